import { scaleThreshold } from "d3-scale";
import { pointRadial } from "d3-shape";

/** Switches of a transport network, and its links; a link's ends are places in the list of switches. */
export interface Network {
  switches: { name: string; connected: boolean }[];
  links: { ends: [number, number]; load: number }[];
}

/** Size of the drawing and radius of a switch, in pixels. */
const [SIZE, RADIUS] = [420, 22];
/** Colour of a link by its load: free, busy, nearly full. */
const colour = scaleThreshold<number, string>([0.4, 0.8], ["var(--series-0)", "var(--series-4)", "var(--series-1)"]);
const percent = (load: number): string => `${Math.round(100 * load)} %`;

/** Switches in a ring, with the links between them: the fuller a link, the wider. */
export function Switches({ switches, links }: Network) {
  const [middle, ring] = [SIZE / 2, SIZE / 2 - 3 * RADIUS];
  const at = switches.map((_, index) => pointRadial((2 * Math.PI * index) / switches.length - Math.PI / 2, ring).map((value) => middle + value) as [number, number]);
  const heights = at.map(([, y]) => y);
  const [top, bottom] = [Math.min(...heights, middle) - RADIUS - 2, Math.max(...heights, middle) + RADIUS + 2];
  const said = links.map(({ ends: [from, to], load }) => `${switches[from]?.name} to ${switches[to]?.name} ${percent(load)}`).join(", ");
  return (
    <svg width={SIZE} viewBox={`0 ${top} ${SIZE} ${bottom - top}`} class="drawing" role="img" aria-label={`Loads of links: ${said || "none"}`}>
      {links.map(({ ends, load }) => {
        const [[x1, y1], [x2, y2]] = ends.map((end) => at[end] ?? [middle, middle]) as [[number, number], [number, number]];
        return (
          <g key={ends.join(" ")} class="level">
            <line {...{ x1, y1, x2, y2 }} stroke={colour(load)} stroke-width={1.5 + 6 * Math.min(load, 1)} />
            <text x={(x1 + x2) / 2 + 8} y={(y1 + y2) / 2 - 8}>
              {percent(load)}
            </text>
          </g>
        );
      })}
      {switches.map(({ name, connected }, index) => (
        <g key={name} transform={`translate(${at[index]})`}>
          <circle r={RADIUS} fill="var(--raised)" stroke={connected ? "var(--text)" : "var(--series-1)"} stroke-width={2} stroke-dasharray={connected ? undefined : "4"} />
          <text y={4} text-anchor="middle">
            {name}
          </text>
        </g>
      ))}
    </svg>
  );
}
