import { useMemo } from "preact/hooks";
import { BEARER_COLUMNS, CELL_COLUMNS, FLOW_COLUMNS, ROUTER_COLUMNS, severalBearers, UE_COLUMNS, UPLINK_COLUMNS } from "../columns.ts";
import type { Report } from "../report.ts";
import { directions, type Sets } from "../sets.ts";
import { Section } from "./Section.tsx";
import { Table } from "./Table.tsx";

/** Note on two counts of marks. They differ by packets that were under way as the warm-up ended, and by packets that were lost after their mark. */
const MARKS = "For a flow, “with CE” counts packets that arrived with a mark, whoever made it, or whose mark went into acknowledgements (the short-circuit). Elsewhere, “marked” counts the packets that the law there decided to mark.";

/** All figures, to look one up. */
export function Tables({ report, sets: { flows, ues, routers, cells } }: { report: Report; sets: Sets }) {
  const { down, up } = directions(report);
  const bearers = useMemo(() => severalBearers(report.bearers, down), [report]);
  return (
    <Section id="tables" title="Tables">
      <Table caption="Flows" rows={report.flows} columns={FLOW_COLUMNS} ensemble={flows} />
      {down && <Table caption="UEs" rows={report.ues} columns={UE_COLUMNS} ensemble={ues} />}
      {up && !down && <Table caption="UEs, uplink" rows={report.ues} columns={UPLINK_COLUMNS} ensemble={ues} />}
      <Table caption="Bearers" rows={bearers} columns={BEARER_COLUMNS} />
      <Table caption="Routers" rows={report.routers} columns={ROUTER_COLUMNS} ensemble={routers} />
      <Table caption="Cells" rows={report.cells} columns={CELL_COLUMNS} ensemble={cells} />
      <p class="note">{MARKS}</p>
    </Section>
  );
}
