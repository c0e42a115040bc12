import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Column, text } from "../columns.ts";
import { figure } from "../format.ts";
import { Table } from "../parts/Table.tsx";
import { type Point, type Study, titled } from "./study.ts";

/** Text quoted for a shell. */
const word = (text: string): string => (/^[\w./=:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** Command that writes the report of a point's run; null if the scenario has no path. */
function commandOf({ data: { file } }: Study, { set, seeds, keys }: Point, run: number): string | null {
  const [seed, key] = [seeds[run], keys[run]];
  if (file === null || key === undefined) return null;
  return ["tidemark", "run", file, ...set.flatMap((one) => ["--set", one]), "--seed", String(seed), "--out", `out/run-${key.slice(0, 8)}`].map(word).join(" ");
}

/** The runs behind a figure: their reports where the study keeps them, or else the command that makes one. */
export function Runs({ study, point, close }: { study: Study; point: Point; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [chosen, choose] = useState(0);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const { metrics, has_reports } = study.data;
  const command = has_reports ? null : commandOf(study, point, chosen);
  const keyOf = (run: number): string => point.keys[run] ?? "";
  const report = (run: number) => (has_reports ? <a href={`series/${keyOf(run)}/report.html`}>open</a> : <Chooser isChosen={run === chosen} choose={() => choose(run)} />);
  const columns: Column<number>[] = [
    text("seed", (run) => String(point.seeds[run])),
    ...metrics.map((metric, index): Column<number> => ({ group: "", head: titled(metric), value: (run) => point.metrics[index]?.[run] ?? null, show: figure, first: true })),
    { ...text("run", keyOf), cell: (run) => <a href={`runs/${keyOf(run)}.json`}>summary</a> },
    ...(has_reports || command !== null ? [{ ...text("report", keyOf), cell: report }] : []),
  ];
  return (
    <dialog ref={dialog} aria-label="Runs behind the figure" onClose={close}>
      <h2>{study.label(point, study.columns) || "All points"}</h2>
      <Table caption="Runs" rows={point.seeds.map((_, run) => run)} columns={columns} />
      {command !== null && (
        <>
          <p class="note">The report of seed {point.seeds[chosen]}, with all that happened over time, is written by</p>
          <pre tabIndex={0}>{command}</pre>
          <p class="note">
            A study with <code>--series</code> keeps the report of each run, and this table opens it.
          </p>
        </>
      )}
      <form method="dialog">
        <button class="close">Close</button>
      </form>
    </dialog>
  );
}

/** Button in the row of a run that shows its command. */
function Chooser({ isChosen, choose }: { isChosen: boolean; choose: () => void }) {
  return (
    <button type="button" class="open" aria-pressed={isChosen} onClick={choose}>
      command
    </button>
  );
}
