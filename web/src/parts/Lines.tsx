import { area, line } from "d3-shape";
import { decimate, envelope, type Point, type Stripe } from "../decimate.ts";
import type { Line } from "../ensemble.ts";
import { type Bands, type Frame, type Level, levelsWithin, type Picture } from "../picture.ts";
import type { Measured } from "../read.ts";
import { DASHES } from "../theme.ts";

/** Largest number of pixels across a line. Each has its lowest and highest point, so a line has at most twice as many points. */
const MOST_RUNS = 1000;

interface Props {
  picture: Picture;
  frame: Frame;
  bands: Bands;
  picked: Line[];
}

/** Path of values over the horizontal axis. */
export function pathOf({ x: axis }: Picture, values: Measured[], { x, y, range, width }: Frame): string {
  const points = decimate(axis, values, range, Math.min(MOST_RUNS, Math.ceil(width)));
  const draw = line<Point>(([at]) => x(at), ([, value]) => y(Math.max(value ?? 0, floor(y.domain())))).defined(([, value]) => value !== null);
  return draw.digits(1)(points) ?? "";
}

/** Least value that a scale can show: a logarithmic one has no zero. */
const floor = (domain: number[]): number => domain[0] ?? 0;

function areaOf({ x: axis }: Picture, [low, high]: [Measured[], Measured[]], { x, y, range, width }: Frame): string {
  const stripes = envelope(axis, low, high, range, Math.min(MOST_RUNS, Math.ceil(width)));
  const bottom = floor(y.domain());
  const draw = area<Stripe>(([at]) => x(at), ([, edge]) => y(Math.max(edge ?? 0, bottom)), ([, , edge]) => y(Math.max(edge ?? 0, bottom))).defined(([, edge]) => edge !== null);
  return draw.digits(1)(stripes) ?? "";
}

/** Bands of groups, and over all of them the lines. */
export function Lines({ picture, frame, bands, picked }: Props) {
  const alone = bands.length === 1;
  const most = frame.y.domain()[1] ?? 0;
  return (
    <>
      {bands.map(({ group, band }) => (
        <g key={group.name} fill={`var(--series-${group.colour})`}>
          {alone && <path d={areaOf(picture, [band.min, band.max], frame)} fill-opacity={0.1} />}
          <path d={areaOf(picture, [band.p10, band.p90], frame)} fill-opacity={alone ? 0.22 : 0.17} />
        </g>
      ))}
      <g fill="none" stroke-width={1.5} stroke-linejoin="round">
        {bands.map(({ group, band }) => (
          <path key={group.name} data-colour={group.colour} stroke={`var(--series-${group.colour})`} d={pathOf(picture, band.median, frame)} />
        ))}
        {picked.map(({ entity, colour }) => (
          <path key={entity} data-colour={colour} stroke={`var(--series-${colour})`} stroke-dasharray={DASHES[colour]?.join(" ")} d={pathOf(picture, picture.rows[entity] ?? [], frame)} />
        ))}
        {picked.map(({ entity, colour }) =>
          picture.ceilings?.[entity] ? (
            <path key={entity} class="ceiling" stroke={`var(--series-${colour})`} stroke-dasharray="1 3" d={pathOf(picture, picture.ceilings[entity] ?? [], frame)} />
          ) : null,
        )}
      </g>
      <Levels levels={levelsWithin(picture, most)} frame={frame} />
    </>
  );
}

/** Horizontal lines at limits, with their names, which no line crosses. */
export function Levels({ levels, frame }: { levels: Level[]; frame: Frame }) {
  const at = ({ value }: Level): string => `translate(0,${frame.y(value).toFixed(1)})`;
  return (
    <g class="level">
      {levels.map((level) => (
        <line key={level.label} transform={at(level)} x2={frame.width} stroke="var(--text)" stroke-dasharray="5 4" />
      ))}
      {levels.map((level, index) => (
        <text key={level.label} transform={at(level)} x={index % 2 === 0 ? frame.width - 4 : 4} y={frame.y(level.value) < 12 ? 11 : -4} text-anchor={index % 2 === 0 ? "end" : "start"}>
          {level.label}
        </text>
      ))}
    </g>
  );
}
