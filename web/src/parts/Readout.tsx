import { bisectCenter } from "d3-array";
import type { Ensemble } from "../ensemble.ts";
import { figure } from "../format.ts";
import type { Bands, Picture } from "../picture.ts";
import type { View } from "../view.ts";
import { Swatch } from "./Swatch.tsx";

interface Props {
  picture: Picture;
  ensemble: Ensemble;
  bands: Bands;
  view: View;
}

interface Value {
  name: string;
  colour: number;
  value: string;
}

/** Values at a position on the axis, in the order of the legend. */
export function valuesAt({ rows, x, show = figure }: Picture, ensemble: Ensemble, bands: Bands, at: number): Value[] {
  const index = bisectCenter(x, at);
  return [
    ...bands.map(({ group, band }) => ({ name: group.name, colour: group.colour, value: show(band.median[index] ?? null) })),
    ...ensemble.picked.map(({ entity, colour }) => ({ name: ensemble.names[entity] ?? "", colour, value: show(rows[entity]?.[index] ?? null) })),
  ];
}

/** The cursor's position and the values there, beside the title. */
export function Readout({ picture, ensemble, bands, view }: Props) {
  const at = view.cursor.value;
  if (at === null) return null;
  const { hovered, names } = ensemble;
  const { rows, x, place, show = figure } = picture;
  return (
    <>
      <span class="place">{place(at)}</span>
      {valuesAt(picture, ensemble, bands, at).map(({ name, colour, value }) => (
        <span key={name} title={name}>
          <Swatch colour={colour} />
          {value}
        </span>
      ))}
      {hovered !== null && (
        <strong>
          {names[hovered]} {show(rows[hovered]?.[bisectCenter(x, at)] ?? null)}
        </strong>
      )}
    </>
  );
}
