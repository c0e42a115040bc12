import { maxIndex, range } from "d3-array";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Ensemble } from "../ensemble.ts";
import { count, percent, plain } from "../format.ts";
import { BLOCKS, ECN, gridOf, intervalAt, type Lane, laneAt, lanesOf, packetsPerSquare, portions, said, servedBy } from "../motion.ts";
import type { Report } from "../report.ts";
import type { View } from "../view.ts";
import { Choices } from "./Choices.tsx";
import { Figure } from "./Figure.tsx";
import { Select } from "./Select.tsx";
import { Time } from "./Time.tsx";
import { useWidth } from "./useWidth.ts";

/** Width below which the grid is above the queues, and largest width of a picture: a longer path does not show marks better. */
const [NARROW, WIDEST] = [640, 960];
/** Size of a square with its gap in pixels, squares across the grid, and in pixels: heights of a lane and of the key, and space for the names. */
const [STEP, ACROSS, LANE, KEY, NAMES] = [9, 20, 50, 20, 120];
/** Rows of a queue's squares. */
const ROWS = 3;
/** Longest step of the animation, in ms: after a pause it continues from where it was. */
const LONGEST = 100;

const SPEEDS = [["0.02", "1/50"], ["0.1", "1/10"], ["1", "1"], ["10", "10"]] as const;
type Speed = (typeof SPEEDS)[number][0];

interface Props {
  report: Report;
  ues: Ensemble;
  view: View;
}

/** One cell in motion, when somebody starts it: its resource blocks, queues as packets, and marks on their way back. */
export function Motion({ report, ues, view }: Props) {
  const [host, width] = useWidth<HTMLDivElement>();
  const [speed, setSpeed] = useState<Speed>("1");
  // Of several cells the fullest comes first.
  const [cell, setCell] = useState(() => maxIndex(report.cells, ({ utilisation }) => utilisation));
  const time = view.cursor.value ?? view.moment.value ?? view.shown[1];
  const { isPlaying, setPlaying } = usePlay(view, time, Number(speed));
  const at = intervalAt(report, time);
  const served = servedBy(report, cell, at);
  const picked = lanesOf(report, ues, served);
  // UEs come to a cell and leave it, and a square stays what it is.
  const shown = report.cells.length > 0 ? [...report.ues.keys()] : picked;
  const square = useMemo(() => packetsPerSquare(report, shown), [report, String(shown)]);
  const lanes = picked.map((ue) => laneAt(report, ues, ue, time));
  const draw = (width: number) => <Drawn lanes={lanes} grid={gridOf(report, lanes, served, at)} square={square} width={width} />;
  const cells = () => [["UE", "PRBs (%)", "queued", ...ECN.map(({ name }) => name), "marks"], ...lanes.map((lane) => [lane.name, lane.share === null ? "" : 100 * lane.share, lane.queued ?? "", ...lane.arrived, lane.marked])];
  const title = `${report.cells[cell]?.name ?? "The cell"} at ${time.toFixed(2)} s`;
  return (
    <Figure id="motion-cell" title={title} height={heightIn(0, lanes.length)} draw={({ width }) => draw(width)} cells={cells}>
      <div class="controls">
        {report.cells.length > 1 && <Select label="Cell" options={report.cells.map(({ name }, index) => [String(index), name] as const)} chosen={String(cell)} change={(value) => setCell(Number(value))} />}
        {mayMove() && (
          <>
            <button type="button" onClick={() => setPlaying(!isPlaying)}>
              {isPlaying ? "Pause" : "Play"}
            </button>
            <Choices label="Speed" options={SPEEDS} chosen={speed} change={setSpeed} />
          </>
        )}
        <Time times={report.t_s} at={at} view={view} />
      </div>
      <div ref={host} role="img" aria-label={`${title}. ${lanes.map(said).join("; ")}.`}>
        {width > 0 && draw(Math.min(width, WIDEST))}
      </div>
      <p class="note">
        A square of the grid is {plain(100 / BLOCKS)} % of the interval's resource blocks, one of a queue {square === 1 ? "a packet" : `${plain(square)} packets`}. A queue has the ECN fields of what leaves it next; their order is not
        known. A dot is a mark of a flow, which takes half a round trip back to its sender.{ues.many && " Of many UEs these have lines in the plots, or the longest delays."}
      </p>
    </Figure>
  );
}

/** False for a reader who prefers reduced motion: the slider then shows all moments. */
const mayMove = (): boolean => !matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Moves the cursor through the shown range, at so many seconds per second, until the end. */
function usePlay(view: View, time: number, speed: number) {
  const [isPlaying, setPlaying] = useState(false);
  useEffect(() => {
    if (!isPlaying) return;
    const [start, end] = view.shown;
    let at = time < end ? Math.max(start, time) : start;
    let before: number | null = null;
    let frame = requestAnimationFrame(step);
    function step(now: number): void {
      // The pointer moves the cursor over a plot, and removes it when it leaves.
      at = (before === null ? at : (view.cursor.peek() ?? at)) + (speed * Math.min(LONGEST, now - (before ?? now))) / 1e3;
      before = now;
      view.cursor.value = Math.min(at, end);
      if (at < end) frame = requestAnimationFrame(step);
      else setPlaying(false);
    }
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, speed, view]);
  return { isPlaying, setPlaying };
}

/** Size of the grid, in squares. */
const GRID = { width: STEP * ACROSS, height: STEP * (BLOCKS / ACROSS) };

const isNarrow = (width: number): boolean => width < NARROW;
const heightIn = (width: number, lanes: number): number => KEY + 16 + (isNarrow(width) ? GRID.height + 28 + LANE * lanes : Math.max(GRID.height, LANE * lanes));

/** Path of squares, by the numbers of their positions. */
const squares = (places: number[], at: (place: number) => [number, number]): string => places.map((place) => `M${at(place).join(",")}h${STEP - 1.5}v${STEP - 1.5}h${1.5 - STEP}z`).join("");

/** Runs of positions, one after the other. */
function runs(counts: number[]): number[][] {
  let from = 0;
  return counts.map((count) => range(from, (from += count)));
}

interface DrawnProps {
  lanes: Lane[];
  grid: number[];
  square: number;
  width: number;
}

function Drawn({ lanes, grid, square, width }: DrawnProps) {
  const height = heightIn(width, lanes.length);
  const [left, top] = isNarrow(width) ? [0, GRID.height + 28] : [GRID.width + 32, 0];
  const filled = [...lanes.map(({ colour }) => (colour === null ? "var(--muted)" : `var(--series-${colour})`)), "var(--muted)", "var(--grid)"];
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <g class="blocks" transform="translate(0,16)">
        <text class="label" y={-5}>
          resource blocks
        </text>
        {runs(grid).map((places, index) => (
          // Blocks are ordered by frequency, from top to bottom, and then by time.
          <path key={index} d={squares(places, (place) => [STEP * Math.floor(place / (BLOCKS / ACROSS)), STEP * (place % (BLOCKS / ACROSS))])} fill={filled[index]} />
        ))}
      </g>
      <g transform={`translate(${left},${top + 16})`}>
        <text class="label" x={NAMES} y={-5}>
          ◂ senders
        </text>
        <text class="label" x={width - left} y={-5} text-anchor="end">
          UEs ▸
        </text>
        {lanes.map((lane, index) => (
          <g key={lane.name} class="lane" transform={`translate(0,${LANE * index})`}>
            <Row lane={lane} square={square} width={width - left} />
          </g>
        ))}
      </g>
      <g transform={`translate(${left},${height - 4})`}>
        {ECN.map(({ name, colour }, index) => (
          <g key={name} transform={`translate(${72 * index},0)`}>
            <path d={squares([0], () => [0, -8])} fill={colour} />
            <text x={12}>{name}</text>
          </g>
        ))}
      </g>
    </svg>
  );
}

/** A UE's name and figures, its marks under way, and its queue, whose head is on the right. */
function Row({ lane: { name, colour, share, queued, arrived, marks }, square, width }: { lane: Lane; square: number; width: number }) {
  const counts = portions(arrived, Math.ceil((queued ?? 0) / square));
  const along = (place: number): number => width - 4 - place * (width - NAMES - 8);
  return (
    <>
      {colour !== null && <rect width={8} height={8} y={1} fill={`var(--series-${colour})`} />}
      <text class="name" x={12} y={9}>
        {name.length > 16 ? `${name.slice(0, 15)}…` : name}
      </text>
      <text class="label" y={24}>
        {percent(1)(share)} % of blocks
      </text>
      <text class="label" y={38}>
        queued: {count(queued)}
      </text>
      <path d={`M${NAMES},5H${width}`} stroke="var(--grid)" />
      <path class="marks" d={marks.map((place) => `M${along(place).toFixed(1)},5h0`).join("")} stroke="var(--text)" stroke-width={6} stroke-linecap="round" />
      {runs(counts).map((places, field) => (
        <path key={field} d={squares(places, (place) => [width - STEP * (1 + Math.floor(place / ROWS)), 14 + STEP * (place % ROWS)])} fill={ECN[field]?.colour} />
      ))}
    </>
  );
}
