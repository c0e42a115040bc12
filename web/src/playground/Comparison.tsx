import type { FlowResult } from "../fields.ts";
import type { Run } from "./answer.ts";
import { type Lesson } from "./lessons.ts";

const COLUMNS: [string, (flow: FlowResult) => number | null | undefined][] = [
  ["Mbit/s", (flow) => flow.throughput_mbps],
  ["one-way delay p50, ms", (flow) => flow.owd_ms?.p50],
  ["p99", (flow) => flow.owd_ms?.p99],
  ["frame delay p99, ms", (flow) => flow.media?.delay_ms?.p99],
  ["frames lost", (flow) => flow.media?.frames_lost],
  ["freezes", (flow) => flow.media?.freezes],
  ["frozen, s", (flow) => flow.media?.frozen_s],
  ["transfer or page time p95, ms", (flow) => flow.transfers?.completion_ms?.p95],
  ["marked", (flow) => flow.marked],
];

const shown = (value: number | null | undefined): string => (value == null ? "–" : value.toFixed(value < 100 && !Number.isInteger(value) ? 1 : 0));

interface Props {
  first: Run;
  second: Run;
}

/** Two runs flow by flow: A, B. */
export function Comparison({ first, second }: Props) {
  const pairs = first.summary.flows.flatMap((flow) => {
    const other = second.summary.flows.find(({ name }) => name === flow.name);
    return other === undefined ? [] : [[flow, other] as const];
  });
  const columns = COLUMNS.filter(([, of]) => pairs.some(([flow, other]) => of(flow) != null || of(other) != null));
  return (
    <div class="table" tabIndex={0} role="region" aria-label="A beside B">
      <table>
        <thead>
          <tr>
            <th scope="col">flow</th>
            {columns.flatMap(([head]) => ["A", "B"].map((run) => <th key={`${head} ${run}`} scope="col">{`${head}, ${run}`}</th>))}
          </tr>
        </thead>
        <tbody>
          {pairs.map(([flow, other]) => (
            <tr key={flow.name}>
              <th scope="row">{flow.name}</th>
              {columns.flatMap(([head, of]) => [<td key={`${head} A`}>{shown(of(flow))}</td>, <td key={`${head} B`}>{shown(of(other))}</td>])}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const between = (value: number | null | undefined, [least, most]: [number, number]): boolean => value != null && value >= least && value <= most;

/** What a lesson expected, beside what its two runs showed. */
export function Expected({ lesson, first, second }: Props & { lesson: Lesson }) {
  return (
    <ul class="expected">
      {lesson.figures.map(({ label, unit, of, ...range }) => {
        const [a, b] = [of(first.summary), of(second.summary)];
        return (
          <li key={label}>
            {label}: A {shown(a)} {unit} ({range.first.join(" to ")}), B {shown(b)} {unit} ({range.second.join(" to ")}):{" "}
            <strong>{between(a, range.first) && between(b, range.second) ? "as expected" : "not as expected"}</strong>
          </li>
        );
      })}
    </ul>
  );
}
