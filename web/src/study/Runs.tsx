import { useLayoutEffect, useRef } from "preact/hooks";
import { type Column, text } from "../columns.ts";
import { figure } from "../format.ts";
import { Table } from "../parts/Table.tsx";
import { type Point, type Study, titled } from "./study.ts";

/** Text quoted for a shell. */
const word = (text: string): string => (/^[\w./=:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** Command that writes the report of a point's first run; null if the scenario has no path. */
function commandOf({ data: { file } }: Study, { set, seeds: [seed], keys: [key] }: Point): string | null {
  if (file === null || key === undefined) return null;
  return ["tidemark", "run", file, ...set.flatMap((one) => ["--set", one]), "--seed", String(seed), "--out", `out/run-${key.slice(0, 8)}`].map(word).join(" ");
}

/** The runs behind a figure. */
export function Runs({ study, point, close }: { study: Study; point: Point; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const columns: Column<number>[] = [
    text("seed", (run) => String(point.seeds[run])),
    ...study.data.metrics.map((metric, index): Column<number> => ({ group: "", head: titled(metric), value: (run) => point.metrics[index]?.[run] ?? null, show: figure, first: true })),
    { ...text<number>("run", (run) => point.keys[run] ?? ""), cell: (run) => <a href={`runs/${point.keys[run]}.json`}>summary</a> },
  ];
  const command = commandOf(study, point);
  return (
    <dialog ref={dialog} aria-label="Runs behind the figure" onClose={close}>
      <h2>{study.label(point, study.columns) || "All points"}</h2>
      <Table caption="Runs" rows={point.seeds.map((_, run) => run)} columns={columns} />
      {command !== null && (
        <>
          <p class="note">The report of seed {point.seeds[0]}, with all that happened over time, is written by</p>
          <pre tabIndex={0}>{command}</pre>
        </>
      )}
      <form method="dialog">
        <button class="close">Close</button>
      </form>
    </dialog>
  );
}
