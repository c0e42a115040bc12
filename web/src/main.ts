/** The report, top to bottom. */

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { applicationSection } from "./application.ts";
import { cdfRows, grid, tailRows } from "./cdf.ts";
import { cellSection, cellsOf } from "./cells.ts";
import { type Cdf, DataError, parse, type Report } from "./report.ts";
import { choices, el } from "./dom.ts";
import { Ensemble, type Grouping, worst } from "./ensemble.ts";
import { ABSENT, figure, plain, withUnit } from "./format.ts";
import { legend } from "./legend.ts";
import { markList } from "./marks.ts";
import { Panel } from "./panel.ts";
import { routerPanels, routerSection, routersOf } from "./routers.ts";
import { type Beside, eventsNote, overTime, timeSeries, uePanels } from "./series.ts";
import { splitChart } from "./split.ts";
import { Stack } from "./stack.ts";
import { BEARER_COLUMNS, cellFacts, directions, FLOW_COLUMNS, FRAME_COLUMNS, liveFacts, severalBearers, TRANSFER_COLUMNS, ueColumns, uplinkColumns } from "./summary.ts";
import { table } from "./table.ts";
import { choose, currentChoice, onThemeChange, startTheme } from "./theme.ts";
import { uplinkSection } from "./uplink.ts";

const TAIL_FLOOR = 1e-3;
/** Two counts of marks that differ, by what was under way as the warm-up ended and by what was lost after its mark. */
const MARKS = "Of a flow, “with CE” are packets that arrived with the mark, whoever made it, or whose mark went into acknowledgements (the short-circuit); elsewhere “marked” is what the law there decided to mark.";
/** Width of a plot on paper, in CSS pixels: two beside each other on Letter, the shorter of the usual two. */
const PAPER = 460;

function section(id: string, title: string, ...content: (Node | string)[]): HTMLElement {
  return el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), ...content);
}

function factList(facts: [string, string][]): HTMLElement {
  return el("dl", { class: "facts" }, ...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** Length of the run; of one that was stopped, how far it came. */
function duration({ duration_s, interrupted_at_s }: Report): string {
  const whole = withUnit(plain(duration_s), "s");
  return interrupted_at_s === null ? whole : `${withUnit(plain(interrupted_at_s), "s")} of ${whole}, interrupted`;
}

function header(report: Report): HTMLElement {
  const facts: [string, string][] = [
    ["Tidemark", report.tidemark || ABSENT],
    ["Seed", report.seed || ABSENT],
    ["Duration", duration(report)],
    ["Warm-up", withUnit(plain(report.warmup_s), "s")],
    ...(report.ues.length > 0 ? cellFacts(report) : []),
  ];
  const theme = choices("Theme", [["auto", "auto"], ["light", "light"], ["dark", "dark"]] as const, currentChoice(), choose);
  const held = report.cell.conservation;
  const title = el("div", { class: "title" }, el("h1", {}, report.name || "Unnamed run"), theme);
  const warnings = report.warnings.map((warning) => el("p", { class: "warning" }, `Warning: ${warning}.`));
  return el("header", {}, title, factList(facts), ...(held ? [el("p", { class: "note" }, `Conservation: ${held}.`)] : []), ...warnings);
}

/** The controllers that send to each UE: one name, or "mixed". */
function controllersOf(report: Report): string[] {
  return report.ues.map(({ name }) => {
    const found = new Set(report.flows.filter((flow) => flow.ue === name).map((flow) => flow.controller));
    return found.size === 0 ? "none" : found.size === 1 ? ([...found][0] as string) : "mixed";
  });
}

function ensembles(report: Report): { flows: Ensemble; ues: Ensemble } {
  const { flows, ues } = report;
  const ofFlows: Grouping[] = [
    { label: "controller", of: flows.map((flow) => flow.controller) },
    { label: "law", of: flows.map((flow) => flow.law) },
  ];
  const ofUes: Grouping[] = [
    { label: "controller", of: controllersOf(report) },
    { label: "channel", of: ues.map((ue) => ue.channel) },
  ];
  return {
    flows: new Ensemble("flow", flows.map((flow) => flow.name), ofFlows, worst(flows.map((flow) => flow.owd_ms.p99))),
    ues: new Ensemble("UE", ues.map((ue) => ue.name), ofUes, worst(ues.map((ue) => ue.queue_ms.p99))),
  };
}

/** The distributions, from below or as tails, with the switch between the two. */
function distributions(report: Report, flows: Ensemble): { root: HTMLElement; show: () => void; stacks: Stack[] } {
  const host = el("div", { class: "columns" });
  const stacks: Stack[] = [];
  let tail = false;
  const plot = (title: string, of: string, cdfs: Cdf[]): HTMLElement => {
    const stack = new Stack();
    stacks.push(stack);
    const delays = grid(cdfs);
    const rows = cdfRows(cdfs, delays);
    const options = {
      title,
      x: delays,
      xLabel: "delay (ms), logarithmic",
      logX: true,
      height: 280,
      place: (delay: number) => `${figure(delay)} ms`,
      ...(tail
        ? { yLabel: `share of ${of} above`, rows: tailRows(rows, TAIL_FLOOR), logYFrom: TAIL_FLOOR }
        : { yLabel: `share of ${of} up to`, rows, top: 1 }),
    };
    return new Panel(options, flows, stack).root;
  };
  const show = (): void => {
    stacks.length = 0;
    host.replaceChildren(
      plot("One-way delay", "packets", report.flows.map((flow) => flow.owd_cdf)),
      // Hosts on the wire have no radio.
      ...(report.ues.length > 0 ? [plot("RLC queue delay", "packets", report.flows.map((flow) => flow.queue_cdf))] : []),
      ...(report.flows.some(({ media }) => media) ? [plot("Frame delay", "frames", report.flows.map((flow) => flow.frame_cdf))] : []),
      ...(report.flows.some(({ transfers }) => transfers) ? [plot("Completion time", "transfers", report.flows.map((flow) => flow.completion_cdf))] : []),
    );
    for (const stack of stacks) stack.resize();
  };
  const form = choices("Show", [["cdf", "distribution"], ["tail", "tail"]] as const, "cdf", (value) => {
    tail = value === "tail";
    show();
  });
  return { root: el("div", { class: "distributions" }, form, host), show, stacks };
}

function scenario(report: Report): HTMLElement {
  const made = `Tidemark ${report.tidemark || ABSENT}, seed ${report.seed || ABSENT}`;
  if (!report.scenario) return section("scenario", "Scenario", el("p", { class: "absent" }, "This run carries no scenario text."));
  return section("scenario", "Scenario", el("details", {}, el("summary", {}, `The whole text, run with ${made}`), el("pre", { tabindex: 0 }, report.scenario)));
}

function draw(report: Report, main: HTMLElement): void {
  document.title = `${report.name || "run"} – Tidemark`;
  const { flows, ues } = ensembles(report);
  const { down, up } = directions(report);
  const bearers = severalBearers(report.bearers, down);
  const [frames, transfers] = [report.flows.filter(({ media }) => media), report.flows.filter(({ transfers }) => transfers)];
  const routers = routersOf(report);
  const wired = report.ues.length === 0 && report.routers.length > 0;
  const beside: Beside = wired ? ["Routers", routers, routerPanels(report)] : ["UEs", ues, uePanels(report, down)];
  const time = new Stack();
  const delay = distributions(report, flows);
  const hint = "Drag to zoom; double-click or Escape shows everything. In a focused plot the arrow keys move the cursor, + and − zoom.";
  const many = flows.many || ues.many ? " Click a line to keep it." : "";
  const shaded = report.warmup_s ? " The shaded warm-up is not in the tables and distributions." : "";
  const events = report.events.length > 0 ? [el("p", { class: "note" }, eventsNote(report.events))] : [];
  const axes = choices("Delay axes", [["linear", "linear"], ["log", "logarithmic"]] as const, "linear", (value) => time.setLogDelay(value === "log"));
  const marks = markList(report.marks, time);
  const none = (what: string): HTMLElement => el("p", { class: "absent" }, `This run has no ${what}.`);
  main.replaceChildren(
    header(report),
    section(
      "summary",
      "Summary",
      report.flows.length > 0 ? table("Flows", report.flows, FLOW_COLUMNS, flows) : none("flows"),
      ...(frames.length > 0 ? [table("Frames", frames, FRAME_COLUMNS)] : []),
      ...(transfers.length > 0 ? [table("Transfers and pages", transfers, TRANSFER_COLUMNS)] : []),
      ...(report.ues.length === 0 ? [none("UEs")] : []),
      ...(report.ues.length > 0 && down ? [table("UEs", report.ues, ueColumns(report.ues), ues)] : []),
      ...(up ? [table("UEs, uplink", report.ues, uplinkColumns(report.ues, down), ues)] : []),
      ...(bearers.length > 0 ? [table("Bearers", bearers, BEARER_COLUMNS)] : []),
      el("p", { class: "note" }, MARKS),
    ),
    ...(report.live ? [section("live", "In real time", factList(liveFacts(report.live)))] : []),
    section("time", "Over time", el("p", { class: "note screen" }, hint + many + shaded), ...events, axes, timeSeries(report, flows, beside, time), ...(marks ? [marks] : [])),
    ...(report.application.length > 0 ? [section("application", "Application", ...applicationSection(report, overTime(report), time))] : []),
    ...(up && down ? [section("uplink", "Uplink", ...uplinkSection(report, ues, time))] : []),
    ...(report.routers.length > 0 ? [section("routers", "Wired path", ...routerSection(report, routers, overTime(report), time))] : []),
    ...(report.cells.length > 0 ? [section("network", "Network", ...cellSection(report, cellsOf(report), overTime(report), time))] : []),
    section("delay", "Delay", legend("Flows", flows), delay.root, el("h3", {}, "What the mean one-way delay is made of (ms)"), splitChart(report.flows, flows)),
    scenario(report),
  );
  const resize = (width?: number): void => {
    for (const stack of [time, ...delay.stacks]) stack.resize(width);
  };
  delay.show();
  resize();
  new ResizeObserver(() => resize()).observe(main);
  onThemeChange((printing) => {
    resize(printing ? PAPER : undefined);
    for (const stack of [time, ...delay.stacks]) stack.redraw();
  });
}

const main = document.getElementById("report") as HTMLElement;
startTheme();
try {
  draw(parse(document.getElementById("tidemark-data")?.textContent ?? ""), main);
} catch (error) {
  if (!(error instanceof DataError)) throw error;
  main.replaceChildren(el("h1", {}, "Tidemark report"), el("p", { class: "failure", role: "alert" }, error.message));
}
