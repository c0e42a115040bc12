import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { embed, network, routed, sample, uploads, video } from "../sample/sample.js";
import { DataError, parse } from "../src/report.ts";
import { severalBearers } from "../src/columns.ts";
import { happenings } from "../src/levels.ts";

const page = (data: unknown): ReturnType<typeof parse> => parse(JSON.stringify(data));

/** Run with no flows and no UEs but those given, each with the fields that it does not name. */
function completed({ flows = [], ues = [], series, ...run }: { flows?: object[]; ues?: object[]; series?: { flows?: object; [of: string]: unknown }; [field: string]: unknown }): unknown {
  const whole = sample(1);
  const { flows: ofFlows, ...others } = { flows: {}, t_s: [], ...series };
  return {
    ...whole,
    ...run,
    flows: flows.map((flow) => ({ ...whole.flows[0], ...flow })),
    ues: ues.map((ue) => ({ ...whole.ues[0], ...ue })),
    series: { ...whole.series, ...others, flows: { ...whole.series.flows, ...ofFlows } },
  };
}

/** Series that have a row for each entity; of the others the run has no row. */
function filled(series: Record<string, unknown[]>): object {
  return Object.fromEntries(Object.entries(series).filter(([, rows]) => rows.length > 0));
}

/** Fields of a type of results. */
function written(type: string): string[] {
  const source = readFileSync(new URL("../src/fields.ts", import.meta.url), "utf8");
  const body = new RegExp(`export interface ${type} \\{([^}]*)\\}`).exec(source)?.[1];
  if (body === undefined) throw new Error(`results declare no type ${type}`);
  return [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name = ""]) => name);
}

describe("what a run wrote", () => {
  const given = sample(3);
  const report = page(given);

  test("comes through unchanged", () => {
    expect(report.name).toBe("first-look");
    expect(report.seed).toBe("1");
    expect(report.duration_s).toBe(20);
    expect(report.warmup_s).toBe(2);
    expect(report.interrupted_at_s).toBeNull();
    expect(report.cell).toEqual(given.cell);
    expect(report.scenario).toBe(given.scenario);
    // Flow 3 of the sample has no round-trip time at all.
    expect(report.flows.slice(0, 2)).toMatchObject(given.flows.slice(0, 2));
    expect(report.flows[2]).toMatchObject({ ...given.flows[2], rtt_ms: { mean: null, p50: null, p95: null, p99: null, p999: null } });
    expect(report.ues).toMatchObject(given.ues);
    expect(report.t_s).toEqual(given.series.t_s);
    expect(report.series.flows).toMatchObject(filled(given.series.flows));
    expect(report.series.ues).toMatchObject(filled(given.series.ues));
  });

  test("has the figures of an application that was joined, one value an interval", () => {
    const run = sample(1);
    const { application, t_s } = page({ ...run, application: [{ name: "iperf3 #1: rate", unit: "Mbit/s", values: [1, null] }] });
    expect(application).toMatchObject([{ name: "iperf3 #1: rate", unit: "Mbit/s" }]);
    expect(application[0]?.values).toEqual([1, ...t_s.slice(1).map(() => null)]);
    expect(report.application).toEqual([]);
  });

  test("of a network has its cells and every bearer", () => {
    const run = network(21);
    const { cells, bearers, series } = page(run);
    expect(cells).toEqual(run.cells);
    expect(series.cells).toEqual(run.series.cells);
    expect(bearers[2]).toMatchObject(run.bearers[2] as object);
    expect(bearers[3]?.in_budget).toBeNull();
    expect(page(run).ues).toMatchObject(run.ues);
    expect(page(run).series.ues).toMatchObject(filled(run.series.ues));
    for (const [struct, value] of [["NetworkCellResult", run.cells[0]], ["CellSeries", run.series.cells], ["BearerResult", run.bearers[0]]] as const) {
      const place = struct === "NetworkCellResult" ? written("CellPlace") : [];
      expect([...written(struct).filter((field) => field !== "place"), ...place], struct).toEqual(Object.keys(value as object));
    }
    const several = (down: boolean): unknown => severalBearers(bearers, down).map(({ ue, drb, direction }) => [ue, drb, direction]);
    expect(several(true)).toEqual([["ue-1", 1, "downlink"], ["ue-1", 1, "uplink"], ["ue-1", 2, "downlink"]]);
    expect(several(false)).toEqual([["ue-1", 1, "uplink"]]);
    expect(page(sample(3)).cells).toEqual([]);
  });

  test("over routers has each of them", () => {
    const run = routed();
    const { flows, routers, series } = page(run);
    expect(routers).toMatchObject(run.routers);
    expect(series.routers).toEqual(run.series.routers);
    expect(flows[1]?.split_ms.router).toBe(18.3);
    for (const [struct, value] of [["RouterResult", run.routers[0]], ["RouterSeries", run.series.routers]] as const) {
      expect(written(struct), struct).toEqual(expect.arrayContaining(Object.keys(value as object)));
    }
    expect(page(sample(3)).routers).toEqual([]);
  });

  test("of a flow without a router has no delay there", () => {
    const { router, ...split_ms } = given.flows[0]?.split_ms ?? {};
    expect(page(completed({ flows: [{ split_ms }] })).flows[0]?.split_ms).toEqual({ ...split_ms, router: 0 });
  });

  test("of uploads has what each UE sent", () => {
    const run = uploads();
    const { cell, ues, series } = page(run);
    expect(cell).toEqual(run.cell);
    expect(ues).toMatchObject(run.ues);
    expect(series.uplinks).toEqual(run.series.uplinks);
    for (const [struct, value] of [["UplinkResult", run.ues[0]?.uplink], ["UplinkSeries", run.series.uplinks]] as const) {
      expect(written(struct), struct).toEqual(Object.keys(value as object));
    }
    expect(page(sample(3)).ues.every((ue) => ue.uplink === null)).toBe(true);
  });

  test("of a live cell has how the machine fared", () => {
    const live = { lateness_us: { p50: 4, p99: 31.5, p999: 80, max: 412 }, busy: 0.31, real_time_priority: true, packets_in: 10, packets_out: 9, refused: 0, unroutable: 1, unreadable: null, overload: 0, not_admitted: 3, device_drops: 2, uplink_busy_s: 1.5 };
    const { lateness_us, ...rest } = live;
    expect(written("LiveResult")).toEqual(expect.arrayContaining(Object.keys(live)));
    expect(written("Lateness")).toEqual(expect.arrayContaining(Object.keys(lateness_us)));
    expect(report.live).toBeNull();
    expect(page(completed({ live: { ...rest, lateness_us: { ...lateness_us, deadlines: 9 } } })).live).toMatchObject(live);
    expect(page(completed({ live: { ...rest, lateness_us: null } })).live).toMatchObject({ ...rest, lateness_us: { p50: null, p99: null, p999: null, max: null } });
  });

  test("of a live cell has what was done to it, and a law's time", () => {
    const set = { t_s: 6, event: "set", detail: "marker.law=l4span" };
    const outage = { t_s: 8.25, event: "outage", ue: "walker", detail: "500 ms" };
    const { events } = page(completed({ events: [set, outage] }));
    expect(events).toEqual([{ ...set, ue: "" }, outage]);
    expect(written("Event")).toEqual(["t_s", "event", "ue", "detail"]);
    expect(happenings({ ...report, events })).toEqual([{ t_s: 6, label: "set marker.law=l4span" }, { t_s: 8.25, label: "outage walker 500 ms" }]);
    expect(report.events).toEqual([]);
  });

  test("has no name that the simulator does not write", () => {
    const { series, flows, ues, ...run } = given;
    const expectWritten = (struct: string, value: object, added: string[] = []): void =>
      expect([...written(struct), ...added], struct).toEqual(expect.arrayContaining(Object.keys(value)));
    expectWritten("RunResult", { ...run, flows, ues, interrupted_at_s: null }, ["cdfs"]);
    expectWritten("CellResult", given.cell);
    expectWritten("FlowResult", flows[0] as object);
    expectWritten("Quantiles", flows[0]?.owd_ms as object);
    expectWritten("Split", flows[0]?.split_ms as object);
    expectWritten("UeResult", ues[0] as object, written("UePlace"));
    expectWritten("AnbrResult", network(1).ues[0]?.anbr as object);
    expectWritten("Series", series);
    expectWritten("FlowSeries", series.flows);
    expectWritten("UeSeries", series.ues);
  });

  test("keeps a seed of 64 bits that no number of JavaScript holds", () => {
    const whole = JSON.stringify(completed({ seed: 7 }));
    expect(parse(whole.replace('"seed":7', '"seed":18446744073709551557')).seed).toBe("18446744073709551557");
  });

  test("takes no seed out of the scenario's text", () => {
    const { seed, ...rest } = completed({}) as { seed: number };
    expect(page({ scenario: '"seed": 7', seed: seed + 41, ...rest }).seed).toBe("42");
  });

  test("says where a run was interrupted", () => {
    expect(page(completed({ interrupted_at_s: 3.5 })).interrupted_at_s).toBe(3.5);
  });
  test("has the run's warnings", () => {
    expect(page(completed({})).warnings).toEqual([]);
    expect(page(completed({ warnings: ["UE `a` had less than its guarantee"] })).warnings).toEqual(["UE `a` had less than its guarantee"]);
  });
});

describe("what was not measured", () => {
  test("is absent, not zero", () => {
    const flow = { throughput_mbps: null, marked: null, split_ms: null, owd_ms: null };
    const cell = { utilisation: null, throughput_mbps: null, conservation: "" };
    const report = page(completed({ flows: [flow], cdfs: [], ues: [{ queue_ms: null }], cell, series: { flows: { rtt_ms: [] } } }));
    expect(report.cell).toEqual({ utilisation: null, uplink_utilisation: null, throughput_mbps: null, satisfied: null, conservation: "" });
    const shown = report.flows[0];
    expect([shown?.throughput_mbps, shown?.marked, shown?.split_ms.queuing, shown?.owd_ms.p999]).toEqual([null, null, null, null]);
    expect(shown?.owd_cdf).toEqual([]);
    expect(report.ues[0]?.queue_ms.mean).toBeNull();
    expect(report.t_s).toEqual([]);
    expect(report.series.flows.rtt_ms).toEqual([]);
  });

  test("leaves gaps in short rows and whole gaps for missing ones", () => {
    const series = { t_s: [1, 2, 3], flows: { rtt_ms: [[10, null]] } };
    const report = page(completed({ flows: [{ name: "a" }, { name: "b" }], series }));
    expect(report.series.flows.rtt_ms).toEqual([[10, null, null], [null, null, null]]);
  });

  test("what is no number is absent", () => {
    const report = page(completed({ flows: [{ name: 7, throughput_mbps: "12", marked: true, dropped: [] }] }));
    expect(report.flows[0]).toMatchObject({ name: "7", throughput_mbps: null, marked: null, dropped: null });
  });

  test("a distribution drops points that fall or are none", () => {
    const owd_cdf = [[10, 0], [12, 0.5], [11, 0.6], [13, 0.4], [null, 0.7], [14], "x", [15, 1]];
    expect(page(completed({ flows: [{}], cdfs: [{ owd_cdf }] })).flows[0]?.owd_cdf).toEqual([[10, 0], [12, 0.5], [15, 1]]);
  });
});

describe("frames and pages", () => {
  const given = video();
  const report = page(given);

  test("come through unchanged, and flows without any have none", () => {
    expect(report.flows.map(({ media }) => media?.in_budget)).toEqual([0.99417, 0.125, undefined]);
    expect(report.flows.map(({ media }) => media?.satisfied)).toEqual([true, false, undefined]);
    expect(report.flows.map(({ transfers }) => transfers?.completed)).toEqual([undefined, undefined, 37]);
    expect(report.flows[2]?.frame_cdf).toEqual([]);
    expect(report.flows[2]?.completion_cdf).toHaveLength(201);
    expect([report.cell.satisfied, ...report.ues.map(({ satisfied }) => satisfied)]).toEqual([0.5, true, false, null]);
  });

  test("of freezes those with a time are kept, and delays of frames are missing where there are none", () => {
    const damaged = page({ ...given, freezes: [...given.freezes, { flow: "prague-1", t_s: null, frozen_s: 1 }] });
    expect(damaged.freezes).toEqual(given.freezes);
    expect(report.series.flows.frame_delay_ms[2]?.every((delay) => delay === null)).toBe(true);
    expect(page(sample(1)).freezes).toEqual([]);
  });
});

describe("what is no run", () => {
  const cases: [string, string, RegExp][] = [
    ["the page before a run filled it", "/*TIDEMARK_DATA*/", /holds no run.*tidemark run FILE/],
    ["an empty element", " \n ", /holds no run/],
    ["data cut short", '{"name":"a","flows":[', /not valid JSON.*cut short/],
    ["a list", "[]", /no list of flows and UEs/],
    ["null", "null", /no list of flows and UEs/],
    ["a summary of something else", '{"flows":{},"ues":[]}', /no list of flows and UEs/],
    ["times that stand still", JSON.stringify(completed({ series: { t_s: [1, 2, 2] } })), /times of the series.*do not increase/],
    ["times with a hole", JSON.stringify(completed({ series: { t_s: [1, null, 3] } })), /times of the series.*do not increase/],
    ["another version's run", JSON.stringify(completed({ tidemark: "0.0.9" })), /from Tidemark 0\.0\.9, but the page is from Tidemark \d/],
    ["a run without a version", JSON.stringify({ flows: [], ues: [] }), /from a program without a version/],
    ["a flow without a field", JSON.stringify(completed({ flows: [{}, { marked: undefined }] })), /has no “flows\[1\]\.marked”/],
    ["a delay without a quantile", JSON.stringify(completed({ ues: [{ queue_ms: { mean: 1, p50: 1, p95: 1, p99: 1 } }] })), /has no “ues\[0\]\.queue_ms\.p999”/],
    ["a UE that is none", JSON.stringify({ ...(completed({}) as object), ues: [7] }), /has no “ues\[0\]”/],
    ["series without those of flows", JSON.stringify({ ...(completed({}) as object), series: { t_s: [] } }), /has no “series\.flows”/],
  ];
  test.each(cases)("%s is refused with a reason", (_, source, reason) => {
    expect(() => parse(source)).toThrow(DataError);
    expect(() => parse(source)).toThrow(reason);
  });
});

test("data inside the page can't end its element, and is the same when read back", () => {
  const nasty = { ...sample(1), name: "</script><script>alert(1)</script> $& $1 <!--" };
  const html = embed('<script type="application/json">/*TIDEMARK_DATA*/</script>', nasty);
  expect(html.match(/<\/script/g)).toHaveLength(1);
  const inside = html.slice(html.indexOf(">") + 1, html.lastIndexOf("</script"));
  expect(parse(inside).name).toBe(nasty.name);
});
