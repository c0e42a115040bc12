import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { routed, sample, uploads, video } from "../sample/sample.js";
import { figure } from "../src/format.ts";
import { parse, type Report } from "../src/report.ts";
import { type Sentence, story } from "../src/story.ts";

const INTERVALS = 40;
const STEP = 0.1;
/** Warm-up of ten intervals. */
const WARMUP = 1;

const row = (most: number) => fc.array(fc.option(fc.integer({ min: 0, max: most }), { freq: 8 }), { minLength: INTERVALS, maxLength: INTERVALS });
const counts = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: INTERVALS, maxLength: INTERVALS });
const entity = fc.record({ queue: row(80), rate: counts, marks: counts, sent: fc.integer({ min: 2000, max: 9000 }), dropped: fc.integer({ min: 0, max: 3 }) });

type Entity = { queue: (number | null)[]; rate: number[]; marks: number[]; sent: number; dropped: number };

const counted = <T>(values: T[]): T[] => values.filter((_, index) => Math.round(((index + 1) * STEP - WARMUP) * 1e6) > 0);
const sum = (values: number[]): number => values.reduce((all, value) => all + value, 0);
const ranked = (values: number[], p: number): number | null => values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(p * values.length))] ?? null;
/** Quantile of the intervals' values: what is measured of the packets of a run whose packets each took as long as the mean of its interval. */
const quantile = (values: (number | null)[], p: number): number | null => ranked(counted(values).flatMap((value) => value ?? []), p);

/** Run whose summary is that of its series: nothing in it was made up apart from them. */
function runOf(entities: Entity[], used: number, threshold: number, beside?: object): Report {
  return parse(JSON.stringify({ ...dataOf(entities, used, threshold), beside }));
}

function dataOf(entities: Entity[], used: number, threshold: number) {
  const [flow, ue] = [sample(1).flows[0], sample(1).ues[0]];
  const whole = sample(1);
  const spread = (values: (number | null)[]): object => ({ mean: 0, p50: quantile(values, 0.5), p95: quantile(values, 0.95), p99: quantile(values, 0.99), p999: 0 });
  const rows = (of: (one: Entity) => unknown[]): unknown[][] => entities.map(of);
  return {
      ...whole,
      warmup_s: WARMUP,
      duration_s: INTERVALS * STEP,
      cell: { ...whole.cell, utilisation: used, throughput_mbps: sum(entities.map(({ rate }) => sum(counted(rate)))) / (INTERVALS - WARMUP / STEP) },
      flows: entities.map(({ rate, marks, sent, dropped }, index) => ({ ...flow, name: `flow ${index}`, ue: `ue ${index}`, throughput_mbps: sum(counted(rate)) / (INTERVALS - WARMUP / STEP), marked: sum(counted(marks)), sent_packets: sent, dropped })),
      ues: entities.map(({ queue }, index) => ({ ...ue, name: `ue ${index}`, queue_ms: spread(queue) })),
      bearers: entities.map((_, index) => ({ ...whole.bearers[0], ue: `ue ${index}`, thresholds: [{ key: "low", delay_ms: threshold }] })),
      cdfs: [],
      series: {
        ...whole.series,
        t_s: Array.from({ length: INTERVALS }, (_, index) => Math.round((index + 1) * STEP * 10) / 10),
        flows: { ...whole.series.flows, throughput_mbps: rows(({ rate }) => rate), marks: rows(({ marks }) => marks) },
        ues: { ...whole.series.ues, queue_ms: rows(({ queue }) => queue), throughput_mbps: rows(({ rate }) => rate) },
      },
  };
}

const whole = ({ subject, rest }: Sentence): string => (subject + rest).replaceAll("\u00a0", " ").replaceAll("\u2009", "");
/** The sentence that leads to a picture. */
const about = (report: Report, panel: string, subject: RegExp = /./): string => whole(story(report).find((one) => one.panel === panel && subject.test(one.subject)) as Sentence);
/** A number without the space that divides its thousands. */
const plain = (value: number | null): string => figure(value).replaceAll("\u2009", "");
const percent = (share: number): string => `${(share * 100).toFixed(share >= 0.1 ? 0 : share >= 0.001 || share === 0 ? 1 : 2)} %`;

const runs = fc.tuple(fc.array(entity, { minLength: 2, maxLength: 4 }), fc.integer({ min: 0, max: 1000 }).map((thousandth) => thousandth / 1000), fc.integer({ min: 1, max: 80 }));

describe("sentences of a run are what its series say", () => {
  test("of the longest queue: whose it is, its 99th percentile, and how long it was above the threshold", () => {
    fc.assert(
      fc.property(runs, ([entities, used, threshold]) => {
        const tails = entities.map(({ queue }) => quantile(queue, 0.99) ?? -1);
        const most = Math.max(...tails);
        fc.pre(most >= 0);
        const worst = tails.indexOf(most);
        const measured = counted(entities[worst]?.queue ?? []).flatMap((value) => value ?? []);
        const above = measured.filter((value) => value > threshold).length / measured.length;
        const said = about(runOf(entities, used, threshold), "ue-queue");
        expect(said).toBe(`ue ${worst}'s queue was the longest: ${figure(most)} ms at the 99th percentile; it was above low (${figure(threshold)} ms) for ${percent(above)} of the time.`);
      }),
    );
  });

  test("of marks: which flow had most of them, as a share of its packets and of all", () => {
    fc.assert(
      fc.property(runs, ([entities, used, threshold]) => {
        const marked = entities.map(({ marks }) => sum(counted(marks)));
        fc.pre(sum(marked) > 0);
        const sent = entities.map((one) => one.sent);
        const shares = marked.map((count, index) => count / (sent[index] ?? 1));
        const most = shares.indexOf(Math.max(...shares));
        const lost = sum(entities.map(({ dropped }) => dropped));
        const said = about(runOf(entities, used, threshold), "flow-marks");
        expect(said).toBe(
          `${percent(shares[most] ?? 0)} of flow ${most}'s packets carried CE, the largest share of all flows; over all flows it was ${percent(sum(marked) / sum(sent))} of ${sum(sent)} packets; ${lost === 0 ? "none was" : lost === 1 ? "1 was" : `${lost} were`} dropped.`,
        );
      }),
    );
  });

  test("of the rates: the slowest and the fastest", () => {
    fc.assert(
      fc.property(runs, ([entities, used, threshold]) => {
        const means = entities.map(({ rate }) => sum(counted(rate)) / counted(rate).length);
        const [least, most] = [Math.min(...means), Math.max(...means)];
        if (least === most) {
          expect(about(runOf(entities, used, threshold), "flow-rate", /All/)).toContain(`All ${entities.length} flows got ${figure(least)} Mbit/s`);
          return;
        }
        const said = about(runOf(entities, used, threshold), "flow-rate", /rates/);
        expect(said).toContain(`of the ${entities.length} flows range from ${figure(least)} Mbit/s (flow ${means.indexOf(least)}) to ${figure(most)} Mbit/s (flow ${means.indexOf(most)})`);
      }),
    );
  });

  test("of the cell: a bottleneck from nine tenths on, with the sum of the rates", () => {
    fc.assert(
      fc.property(runs, ([entities, used, threshold]) => {
        const said = about(runOf(entities, used, threshold), "flow-rate", /bottleneck|radio/);
        const rate = sum(entities.map(({ rate }) => sum(counted(rate)))) / counted(entities[0]?.rate ?? []).length;
        const expected = used >= 0.9 ? `The cell is a bottleneck: ${percent(used)} of its resource blocks carried data, ${figure(rate)} Mbit/s in total.` : `The radio was not full: the cell used ${percent(used)} of its resource blocks.`;
        expect(said).toBe(expected);
      }),
    );
  });

  test("of a router: how long its link was full, and the longest queue", () => {
    const link = fc.record({ rate: counts, capacity: fc.integer({ min: 1, max: 60 }), queue: row(80) });
    fc.assert(
      fc.property(fc.array(link, { minLength: 1, maxLength: 3 }), (links) => {
        const run = routed();
        const routers = links.map(({ queue }, index) => ({ ...run.routers[0], name: `r${index}`, queue_ms: { ...run.routers[0]?.queue_ms, p50: quantile(queue, 0.5), p99: quantile(queue, 0.99) } }));
        const t_s = Array.from({ length: INTERVALS }, (_, index) => Math.round((index + 1) * STEP * 10) / 10);
        const series = { ...run.series.routers, throughput_mbps: links.map(({ rate }) => rate), capacity_mbps: links.map(({ capacity }) => t_s.map(() => capacity)), queue_ms: links.map(({ queue }) => queue) };
        const report = parse(JSON.stringify({ ...run, warmup_s: WARMUP, ues: [], routers, series: { ...run.series, t_s, routers: series } }));
        const full = links.map(({ rate, capacity }) => counted(rate).filter((value) => value >= 0.9 * capacity).length / counted(rate).length);
        const most = full.indexOf(Math.max(...full));
        const share = percent(full[most] ?? 0);
        const expected = (full[most] ?? 0) >= 0.1 ? `r${most} is a bottleneck: its link was full for ${share} of the time.` : `No link was full for long: the fullest, r${most}, was full for ${share} of the time.`;
        expect(about(report, "router-rate")).toBe(expected);
        const tails = links.map(({ queue }) => quantile(queue, 0.99) ?? -1);
        const longest = tails.indexOf(Math.max(...tails));
        const median = quantile(links[longest]?.queue ?? [], 0.5);
        fc.pre(median !== null);
        expect(about(report, "router-queue")).toBe(`r${longest}'s queue was the longest: ${figure(median)} ms at the median, ${figure(tails[longest] ?? null)} ms at the 99th percentile.`);
      }),
    );
  });

  test("of the uplink: a bottleneck if it is full and fuller than the downlink, with the sum of what UEs sent", () => {
    const share = fc.integer({ min: 0, max: 1000 }).map((thousandth) => thousandth / 1000);
    const run = uploads();
    fc.assert(
      fc.property(fc.array(counts, { minLength: 1, maxLength: 3 }), share, share, (rates, down, up) => {
        const mean = (rate: number[]): number => sum(counted(rate)) / counted(rate).length;
        const ues = rates.map((rate, index) => ({ ...run.ues[0], name: `ue ${index}`, uplink: { ...run.ues[0]?.uplink, throughput_mbps: mean(rate) } }));
        const report = parse(JSON.stringify({ ...run, warmup_s: WARMUP, ues, cell: { ...run.cell, utilisation: down, uplink_utilisation: up } }));
        const said = story(report).map(whole).filter((one) => one.includes("uplink"));
        const expected = `The uplink is a bottleneck: UEs used ${percent(up)} of its resource blocks and sent ${figure(sum(rates.map(mean)))} Mbit/s in total.`;
        expect(said).toEqual(up >= 0.9 && up > down ? [expected] : []);
      }),
    );
  });

  test("of frames: the latest, those that were lost, the time frozen, and the share within the budget", () => {
    const run = video();
    // A frame an interval; one without a delay is lost.
    const media = fc.record({ delays: row(200), frozen: fc.array(fc.integer({ min: 150, max: 3000 }), { maxLength: 4 }) });
    fc.assert(
      fc.property(fc.array(media, { minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 200 }), (videos, budget) => {
        const inBudget = (delays: (number | null)[]): number => counted(delays).filter((delay) => delay !== null && delay <= budget).length / counted(delays).length;
        const lost = (delays: (number | null)[]): number => counted(delays).filter((delay) => delay === null).length;
        const flows = videos.map(({ delays, frozen }, index) => ({
          ...run.flows[0],
          name: `flow ${index}`,
          media: {
            ...run.flows[0]?.media,
            delay_ms: { ...run.flows[0]?.media?.delay_ms, p99: quantile(delays, 0.99) },
            frames_sent: counted(delays).length, frames_lost: lost(delays), freezes: frozen.length, frozen_s: sum(frozen) / 1000,
            delay_budget_ms: budget, in_budget: inBudget(delays),
          },
        }));
        const report = parse(JSON.stringify({ ...run, warmup_s: WARMUP, flows, cdfs: [], freezes: [], series: { ...run.series, flows: { ...run.series.flows, frame_delay_ms: videos.map(({ delays }) => delays) } } }));
        const tails = videos.map(({ delays }) => quantile(delays, 0.99) ?? -1);
        fc.pre(Math.max(...tails) >= 0);
        const latest = tails.indexOf(Math.max(...tails));
        const { delays, frozen } = videos[latest] as (typeof videos)[number];
        const still = frozen.length === 0 ? "the picture never froze" : `the picture was frozen for ${figure(sum(frozen) / 1000)} s in ${frozen.length} ${frozen.length === 1 ? "freeze" : "freezes"}`;
        expect(about(report, "flow-frames")).toBe(`flow ${latest}'s frames took ${figure(tails[latest] ?? null)} ms at the 99th percentile; ${lost(delays)} of ${counted(delays).length} were lost, and ${still}; ${percent(inBudget(delays))} met their budget of ${budget} ms.`);
      }),
    );
  });

  test("of transfers: the slowest flow's times, and how many it completed of all", () => {
    const run = video();
    const times = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(fc.array(times, { minLength: 1, maxLength: 3 }), (transfers) => {
        const flows = transfers.map((of, index) => ({
          ...run.flows[2],
          name: `flow ${index}`,
          transfers: { completed: of.length, completion_ms: { ...run.flows[2]?.transfers?.completion_ms, p50: ranked([...of], 0.5), p95: ranked([...of], 0.95) } },
        }));
        const report = parse(JSON.stringify({ ...run, flows, cdfs: [], freezes: [] }));
        const tails = transfers.map((of) => ranked([...of], 0.95) ?? 0);
        const slowest = tails.indexOf(Math.max(...tails));
        const own = transfers[slowest] ?? [];
        const all = sum(transfers.map(({ length }) => length));
        expect(about(report, "transfers")).toBe(`flow ${slowest}'s transfers took ${plain(ranked([...own], 0.5))} ms at the median and ${plain(tails[slowest] ?? null)} ms at the 95th percentile; this flow completed ${own.length} of all ${all} transfers.`);
      }),
    );
  });
});

describe("beside another run each sentence ends with what the other run's series say", () => {
  const twice = fc.tuple(fc.array(fc.tuple(entity, entity), { minLength: 2, maxLength: 4 }), fc.integer({ min: 0, max: 1000 }).map((thousandth) => thousandth / 1000), fc.boolean());

  test("of the longest queue, of marks, of the rates and of the cell", () => {
    fc.assert(
      fc.property(twice, ([pairs, used, isUnmarked]) => {
        const entities = pairs.map(([one]) => one);
        const others = pairs.map(([, other]) => (isUnmarked ? { ...other, marks: other.marks.map(() => 0) } : other));
        const marked = sum(others.map(({ marks }) => sum(counted(marks))));
        const summary = dataOf(others, used, 10);
        // The sample's UEs were marked, and UEs are not of this test's making.
        const other = { ...summary, ues: summary.ues.map((ue) => ({ ...ue, marked: 0 })) };
        const report = runOf(entities, 0.95, 10, { folder: "out/other", summary: other });
        const label = marked === 0 ? "beside an unmarked run" : "beside out/other";
        const total = (of: Entity[]): number => sum(of.map(({ rate }) => sum(counted(rate)))) / counted(of[0]?.rate ?? []).length;
        const rates = (of: Entity[]): number[] => of.map(({ rate }) => sum(counted(rate)) / counted(rate).length);

        const worst = /^ue (\d+)'s queue/.exec(about(report, "ue-queue"))?.[1] ?? "";
        const p99 = quantile(others[Number(worst)]?.queue ?? [], 0.99);
        expect(about(report, "ue-queue")).toMatch(p99 === null ? /of the time\.$/ : new RegExp(`; ${label}: ${figure(p99)} ms\\.$`));
        const signals = story(report).map(whole).find((said) => / dropped/.test(said)) ?? "";
        const lost = sum(others.map(({ dropped }) => dropped));
        expect(signals).toMatch(new RegExp(`; ${label}: ${marked === 0 ? "" : `${marked} packets with CE, `}${lost} dropped\\.$`));
        expect(about(report, "flow-rate", /bottleneck/)).toBe(`The cell is a bottleneck: 95 % of its resource blocks carried data, ${figure(total(entities))} Mbit/s in total; ${label}: ${percent(used)}, ${figure(total(others))} Mbit/s.`);
        const said = about(report, "flow-rate", /rates|All/);
        const own = rates(entities);
        const chosen = [own.indexOf(Math.min(...own)), own.indexOf(Math.max(...own))];
        const of = [...new Set(chosen)].map((flow) => `${figure(rates(others)[flow] ?? 0)} Mbit/s (flow ${flow})`);
        expect(said).toContain(`; ${label}: ${of.join(" and ")}.`);
      }),
    );
  });

  test("of frames and transfers", () => {
    const run = video();
    const slower = run.flows.map(({ media, transfers, ...flow }, index) => ({
      ...flow,
      marked: 0,
      media: media && { ...media, frames_lost: 70, frozen_s: 2.5, delay_ms: { ...media.delay_ms, p99: 400 + index } },
      transfers: transfers && { ...transfers, completion_ms: { ...transfers.completion_ms, p50: 500, p95: 1500 } },
    }));
    const other = { ...run, flows: slower, ues: run.ues.map((ue) => ({ ...ue, marked: 0 })) };
    const report = parse(JSON.stringify({ ...run, beside: { folder: "out/other", summary: other } }));
    expect(about(report, "flow-frames")).toMatch(/; beside an unmarked run: 401 ms, 70 lost, frozen for 2\.50 s\.$/);
    expect(about(report, "transfers")).toMatch(/; beside an unmarked run: 500 ms and 1500 ms\.$/);
  });

  test("that has no such flow, UE or frames, nothing is said of it", () => {
    const run = video();
    const other = { ...run, flows: run.flows.slice(0, 1), ues: [], cell: { ...run.cell, utilisation: null } };
    const report = parse(JSON.stringify({ ...run, beside: { folder: "out/other", summary: other } }));
    expect(["flow-frames", "transfers", "ue-queue"].filter((panel) => about(report, panel).includes("beside"))).toEqual([]);
  });
});

test("an uplink that is fuller than the downlink is the bottleneck, and the only thing to be one where nobody receives", () => {
  const run = uploads();
  const sent = run.ues.reduce((all, { uplink }) => all + (uplink?.throughput_mbps ?? 0), 0);
  const expected = `The uplink is a bottleneck: UEs used 95 % of its resource blocks and sent ${figure(sent)} Mbit/s in total.`;
  expect(about(parse(JSON.stringify(run)), "uplink-rate")).toBe(expected);
  const idle = { ...run, cell: { ...run.cell, uplink_utilisation: 0.3 } };
  expect(story(parse(JSON.stringify(idle))).some(({ panel }) => panel === "uplink-rate")).toBe(false);
  const alone = { ...idle, ues: run.ues.map((ue) => ({ ...ue, throughput_mbps: 0 })) };
  expect(about(parse(JSON.stringify(alone)), "uplink-rate")).toMatch(/^The uplink was not full: UEs used 30 % of/);
});

test("frames and pages have sentences of their own", () => {
  const report = parse(JSON.stringify(video()));
  const { media } = report.flows[1] as Report["flows"][number];
  expect(about(report, "flow-frames")).toBe(`cubic-2's frames took ${figure(media?.delay_ms.p99 ?? null)} ms at the 99th percentile; 40 of 1200 were lost, and the picture was frozen for 0.750 s in 2 freezes; 13 % met their budget of 15 ms.`);
  expect(about(report, "transfers")).toBe("prague-3's transfers took 250 ms at the median and 900 ms at the 95th percentile; this flow completed 37 of all 37 transfers.");
});

test("a run has at most five sentences, and every one leads to a picture of its own data", () => {
  for (const run of [sample(1), sample(3), sample(64), uploads(), routed(), video()]) {
    const sentences = story(parse(JSON.stringify(run)));
    expect(sentences.length).toBeGreaterThanOrEqual(3);
    expect(sentences.length).toBeLessThanOrEqual(5);
    for (const one of sentences) expect(whole(one)).toMatch(/^\S.*\.$/);
  }
});
