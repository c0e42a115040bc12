import { scalePoint } from "d3-scale";
import { linkHorizontal, linkVertical } from "d3-shape";
import type { Report } from "../report.ts";
import type { Ensemble } from "../ensemble.ts";
import { type Node, topology } from "../topology.ts";
import { useWidth } from "./useWidth.ts";

/** Width below which the servers are at the top, not on the left. */
const NARROW = 620;
/** Largest number of nodes in a column, and in a row. */
const [MOST, MOST_IN_ROW] = [6, 3];
const [BOX, STEP] = [{ width: 112, height: 34 }, { across: 44, down: 68 }];

/** A drawing of who is connected to what; lines have the colours that flows have in the plots. */
export function Drawing({ report, flows }: { report: Report; flows: Ensemble }) {
  const [host, width] = useWidth<HTMLDivElement>();
  const isNarrow = width < NARROW;
  const { columns, edges } = topology(report, (flow) => colourIn(flows, flow), isNarrow ? MOST_IN_ROW : MOST);
  const rows = Math.max(...columns.map((column) => column.length));
  const height = isNarrow ? STEP.down * columns.length : Math.max(90, STEP.across * rows);
  const along = scalePoint(columns.keys(), isNarrow ? [BOX.height / 2 + 2, height - BOX.height / 2 - 2] : [BOX.width / 2 + 2, Math.min(width, 900) - BOX.width / 2 - 2]);
  const placed = new Map<string, { node: Node; at: [number, number] }>();
  columns.forEach((column, index) => {
    const across = scalePoint(column.keys(), [0, isNarrow ? width : height]).padding(0.5);
    column.forEach((node, place) => {
      const [a, b] = [along(index) ?? 0, across(place) ?? 0];
      placed.set(node.id, { node, at: isNarrow ? [b, a] : [a, b] });
    });
  });
  const link = isNarrow ? linkVertical() : linkHorizontal();
  const said = columns.map((column) => column.map(({ label, what }) => `${label} (${what})`).join(", ")).join(" to ");
  return (
    <div ref={host} class="drawing" role="img" aria-label={`From ${said}`}>
      {width > 0 && (
        <svg width={isNarrow ? width : Math.min(width, 900)} height={height} aria-hidden="true">
          <g fill="none" stroke-width={1.5}>
            {edges.map(({ from, to, colour }) => {
              const [source, target] = [placed.get(from)?.at, placed.get(to)?.at];
              if (!source || !target) return null;
              const way = link({ source: shifted(source, colour), target: shifted(target, colour) });
              return <path key={`${from} ${to} ${colour}`} stroke={colour === null ? "var(--muted)" : `var(--series-${colour})`} d={way ?? ""} />;
            })}
          </g>
          {[...placed.values()].map(({ node, at: [x, y] }) => (
            <g key={node.id} transform={`translate(${x},${y})`}>
              <rect x={-BOX.width / 2} y={-BOX.height / 2} {...BOX} rx={4} fill="var(--raised)" stroke="var(--rule)" />
              <text text-anchor="middle" y={-2} class="name">
                {node.label.length > 16 ? `${node.label.slice(0, 15)}…` : node.label}
              </text>
              <text text-anchor="middle" y={12} fill="var(--muted)">
                {node.what}
              </text>
            </g>
          ))}
        </svg>
      )}
    </div>
  );
}

/** Colour of a flow that has a line, or of its group. */
function colourIn(flows: Ensemble, flow: number): number | null {
  return flows.groups.find(({ members }) => members.includes(flow))?.colour ?? flows.colourOf(flow);
}

/** Lines of several colours between the same nodes are drawn side by side. */
const shifted = ([x, y]: [number, number], colour: number | null): [number, number] => [x + 3 * ((colour ?? 2) - 2), y + 3 * ((colour ?? 2) - 2)];
