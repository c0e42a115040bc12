import { useLayoutEffect, useMemo } from "preact/hooks";
import { followAddress } from "../address.ts";
import { UPLINK_COLUMNS } from "../columns.ts";
import { runFacts, liveFacts } from "../facts.ts";
import { hasMap } from "../map.ts";
import type { Ensemble } from "../ensemble.ts";
import { happenings } from "../levels.ts";
import { isMoving } from "../motion.ts";
import { applicationStacks, cellPictures, controllerPictures, routerPictures, timeStacks, uplinkPictures } from "../pictures.ts";
import type { Report } from "../report.ts";
import { directions, setsOf } from "../sets.ts";
import { View } from "../view.ts";
import { Choices } from "./Choices.tsx";
import { Delays } from "./Delays.tsx";
import { Drawing } from "./Drawing.tsx";
import { Facts } from "./Facts.tsx";
import { Map } from "./Map.tsx";
import { Marks } from "./Marks.tsx";
import { Motion } from "./Motion.tsx";
import { Folded, Section } from "./Section.tsx";
import { Stacks, Wide } from "./Stacks.tsx";
import { Story } from "./Story.tsx";
import { Table } from "./Table.tsx";
import { Tables } from "./Tables.tsx";
import { Theme } from "./Theme.tsx";

/** The page of a run: what happened, then the pictures, then the tables. */
export function Page({ report }: { report: Report }) {
  const { sets, view, pictures } = useMemo(() => prepared(report), [report]);
  useLayoutEffect(() => followAddress(view, sets), [view, sets]);
  const { down, up } = directions(report);
  return (
    <>
      <Head report={report} flows={sets.flows} />
      {pictures.time.length > 0 && (
        <Section id="time" title="Over time">
          <Hint report={report} isMany={sets.flows.many || sets.ues.many} />
          <LogDelay view={view} />
          <Stacks stacks={pictures.time} view={view} />
        </Section>
      )}
      {isMoving(report) && (
        <Section id="motion" title="The cell in motion">
          <Motion report={report} ues={sets.ues} view={view} />
        </Section>
      )}
      {pictures.controllers.length > 0 && (
        <Section id="controllers" title="Controllers">
          <Wide stack={{ title: "Flows", ensemble: sets.flows, pictures: pictures.controllers }} view={view} />
        </Section>
      )}
      {pictures.application.length > 0 && (
        <Section id="application" title="Application">
          <Stacks stacks={pictures.application} view={view} />
        </Section>
      )}
      {report.ues.length > 0 && pictures.routers.length > 0 && (
        <Section id="routers" title="Wired path">
          <Wide stack={{ title: "Routers", ensemble: sets.routers, pictures: pictures.routers }} view={view} />
        </Section>
      )}
      {pictures.cells.length > 0 && (
        <Section id="network" title="Network">
          {hasMap(report) && <Map report={report} ues={sets.ues} view={view} />}
          <Wide stack={{ title: "Cells", ensemble: sets.cells, pictures: pictures.cells }} view={view} />
        </Section>
      )}
      <Marks marks={report.marks} view={view} />
      <Delays report={report} sets={sets} />
      {up && down && (
        <Folded id="uplink" title="Uplink" summary="Acknowledgements and other packets from UEs">
          <Wide stack={{ title: "UEs", ensemble: sets.ues, pictures: pictures.uplink }} view={view} />
          <Table caption="UEs, uplink" rows={report.ues} columns={UPLINK_COLUMNS} ensemble={sets.ues} />
        </Folded>
      )}
      <Tables report={report} sets={sets} />
      {report.live && (
        <Section id="live" title="In real time">
          <Facts facts={liveFacts(report.live)} />
        </Section>
      )}
      <Scenario report={report} />
    </>
  );
}

function prepared(report: Report) {
  const sets = setsOf(report);
  const view = new View([Math.min(0, report.t_s[0] ?? 0), report.t_s.at(-1) ?? 1]);
  const pictures = {
    time: timeStacks(report, sets),
    controllers: controllerPictures(report),
    application: applicationStacks(report),
    routers: routerPictures(report),
    cells: cellPictures(report),
    uplink: uplinkPictures(report),
  };
  return { sets, view, pictures };
}

function Head({ report, flows }: { report: Report; flows: Ensemble }) {
  const held = report.cell.conservation;
  return (
    <header>
      <div class="title">
        <h1>{report.name || "Unnamed run"}</h1>
        <Theme />
      </div>
      {report.description && <p class="description">{report.description}</p>}
      <Facts facts={runFacts(report)} />
      <Drawing report={report} flows={flows} />
      <Story report={report} />
      {report.warnings.map((warning) => (
        <p key={warning} class="warning">
          Warning: {warning}.
        </p>
      ))}
      {held && <p class="note">Conservation: {held}.</p>}
    </header>
  );
}

/** Note on what a reader can do with the plots, and the list of what happened in the run. */
function Hint({ report, isMany }: { report: Report; isMany: boolean }) {
  const happened = happenings(report).map(({ t_s, label }) => `${t_s.toFixed(1)} s: ${label}`);
  return (
    <>
      <p class="note screen">
        Drag to zoom; double-click or Escape shows everything. In a focused plot the arrow keys move the cursor, + and − zoom.
        {report.hasMarks && " A click, or Enter, says why packets were marked then."}
        {isMany && " A click on a line keeps it."}
        {report.warmup_s ? " The shaded warm-up is not in the tables and distributions." : ""} The address keeps zoom and choice.
      </p>
      {happened.length > 0 && <p class="note">Dashed lines: {happened.join("; ")}.</p>}
    </>
  );
}

function LogDelay({ view }: { view: View }) {
  const { logDelay } = view;
  const options = [["linear", "linear"], ["log", "logarithmic"]] as const;
  return <Choices label="Delay axes" options={options} chosen={logDelay.value ? "log" : "linear"} change={(value) => (logDelay.value = value === "log")} />;
}

function Scenario({ report: { scenario, tidemark, seed } }: { report: Report }) {
  if (!scenario) return null;
  return (
    <Section id="scenario" title="Scenario">
      <details>
        <summary>
          The whole text, run with Tidemark {tidemark}, seed {seed}
        </summary>
        <pre tabIndex={0}>{scenario}</pre>
      </details>
    </Section>
  );
}
