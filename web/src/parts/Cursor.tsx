import type { Ensemble } from "../ensemble.ts";
import type { Frame, Picture } from "../picture.ts";
import type { View } from "../view.ts";
import { pathOf } from "./Lines.tsx";

interface Props {
  picture: Picture;
  ensemble: Ensemble;
  view: View;
  frame: Frame;
}

/** The cursor, the chosen moment, and the line under the pointer, above everything else and in the colour of text. */
export function Cursor({ picture, ensemble, view, frame }: Props) {
  const { hovered } = ensemble;
  return (
    <>
      {hovered !== null && <path fill="none" stroke="var(--text)" stroke-width={2} d={pathOf(picture, picture.rows[hovered] ?? [], frame)} />}
      <Upright name="cursor" at={view.cursor.value} frame={frame} />
      <Upright name="moment" at={view.moment.value} frame={frame} />
    </>
  );
}

function Upright({ name, at, frame: { x, width, height } }: { name: string; at: number | null; frame: Frame }) {
  if (at === null || x(at) < 0 || x(at) > width) return null;
  return <line class={name} x1={x(at)} x2={x(at)} y2={height} />;
}
