/** Made-up runs for development and tests: the same data every time, in the shape of a real report. Not a model of a cell. */

const rows = () => /** @type {(number | null)[][]} */ ([]);

/**
 * Uniform numbers from 0 to 1 (a 32-bit linear congruential generator, Numerical Recipes' constants).
 * @param {number} seed
 */
function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const CONTROLLERS = /** @type {const} */ (["prague", "cubic", "bbr"]);
const CHANNELS = /** @type {const} */ (["static", "pedestrian", "vehicular"]);
/** Typical RLC queue delay of each controller, in ms. */
const QUEUE = { prague: 9, cubic: 180, bbr: 60 };

/** A bearer of 5QI 9 under L4Span's law. */
const BEARER = {
  ue: "ue-1", drb: 1, direction: "downlink", qfi: [1], five_qi: [9], law: "l4span", thresholds: [{ key: "tau_s", delay_ms: 10 }, { key: "tau_classic", delay_ms: 25 }],
  throughput_mbps: 4.5, queue_ms: null, marked: 12, dropped: 3, delay_budget_ms: 300, in_budget: 0.98765,
};

/** @param {number} value */
const round = (value) => Math.round(value * 1000) / 1000;

/** @param {number[]} sorted */
function quantiles(sorted) {
  /** @param {number} p */
  const at = (p) => round(sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? 0);
  const mean = round(sorted.reduce((sum, value) => sum + value, 0) / sorted.length);
  return { mean, p50: at(0.5), p95: at(0.95), p99: at(0.99), p999: at(0.999) };
}

/** @param {number[]} sorted */
function cdf(sorted) {
  return Array.from({ length: 201 }, (_, i) => {
    const fraction = i < 150 ? (i / 150) * 0.95 : 0.95 + ((i - 150) / 50) * 0.05;
    return [round(sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? 0), fraction];
  });
}

/**
 * One flow a UE. The last flow of the small run starts late and so leaves figures out.
 * @param {number} count
 */
export function sample(count) {
  const random = uniform(count);
  const duration = 20;
  const t_s = Array.from({ length: duration * 10 }, (_, i) => round((i + 1) / 10));
  const series = {
    flows: { throughput_mbps: rows(), rtt_ms: rows(), marks: rows(), cwnd_kb: rows(), pacing_mbps: rows(), target_mbps: rows(), alpha: rows(), frame_delay_ms: rows() },
    ues: { queue_ms: rows(), mcs: rows(), throughput_mbps: rows(), queued: rows(), prb_share: rows(), not_ect: rows(), ect1: rows(), ect0: rows(), ce: rows(), recommended_mbps: rows(), east_m: rows(), north_m: rows(), sinr_db: rows(), cell: rows() },
    uplinks: { throughput_mbps: rows(), queue_ms: rows(), reported_kb: rows(), mcs: rows(), recommended_mbps: rows() },
    routers: { throughput_mbps: rows(), capacity_mbps: rows(), queue_ms: rows(), marks: rows() },
    cells: { throughput_mbps: rows(), utilisation: rows(), ues: rows(), handovers: rows() },
  };
  const flows = [];
  /** @type {Record<"owd_cdf" | "queue_cdf" | "frame_cdf" | "completion_cdf", number[][]>[]} */
  const cdfs = [];
  const ues = [];
  for (let i = 0; i < count; i++) {
    const controller = (count <= 3 && i === 2 ? "prague" : CONTROLLERS[i % 3]) ?? "prague";
    const channel = CHANNELS[Math.floor((i * 3) / count)] ?? "static";
    const fading = { static: 0.3, pedestrian: 3, vehicular: 6 }[channel];
    const typical = QUEUE[controller] * (0.7 + 0.6 * random());
    const start = count <= 3 && i === 2 ? 8 : 0;
    const phase = random() * 6;
    const share = 38 / count;
    const queue = t_s.map((t) => (t <= start ? null : round(typical * (1 + 0.6 * Math.sin(t * 1.3 + phase)) + typical * random() * 0.5)));
    const mcs = t_s.map((t) => Math.round(Math.min(27, Math.max(0, 20 + fading * Math.sin(t * 2 + phase) - fading * random()))));
    const rate = t_s.map((t) => (t <= start ? 0 : round(share * (0.75 + 0.25 * Math.sin(t + phase) + 0.3 * random()))));
    const marks = t_s.map((t) => (t <= start ? 0 : Math.floor(random() * (controller === "prague" ? 9 : 1.2))));
    series.flows.throughput_mbps.push(rate);
    series.flows.rtt_ms.push(queue.map((q) => (q === null ? null : round(40 + q))));
    series.flows.marks.push(marks);
    series.flows.cwnd_kb.push(queue.map((q, k) => (q === null ? null : round(((rate[k] ?? 0) * (40 + q)) / 8))));
    const { pacing_mbps, target_mbps, alpha, frame_delay_ms } = series.flows;
    for (const without of [pacing_mbps, target_mbps, alpha, frame_delay_ms]) without.push(t_s.map(() => null));
    series.ues.queue_ms.push(queue);
    series.ues.mcs.push(mcs);
    series.ues.throughput_mbps.push(rate);
    series.ues.recommended_mbps.push(t_s.map(() => null));
    series.ues.queued.push(queue.map((q, k) => Math.round(((q ?? 0) * (rate[k] ?? 0)) / 12)));
    series.ues.prb_share.push(rate.map((r) => round((0.9 * r) / 38)));
    // CUBIC's packets are Not-ECT, BBR's ECT(0) and Prague's ECT(1); those with CE are the flow's marks.
    const packets = rate.map((r, k) => Math.max(0, Math.round((r * 1e5) / 12000) - (marks[k] ?? 0)));
    const none = packets.map(() => 0);
    series.ues.not_ect.push(controller === "cubic" ? packets : none);
    series.ues.ect1.push(controller === "prague" ? packets : none);
    series.ues.ect0.push(controller === "bbr" ? packets : none);
    series.ues.ce.push(marks);

    const delays = Array.from({ length: 2000 }, () => typical * Math.exp((random() + random() + random() - 1.5) * 0.9)).sort((a, b) => a - b);
    const owd = delays.map((delay) => 22 + delay);
    const name = count <= 3 ? `${controller}-${i + 1}` : `flow-${i + 1}`;
    const mean = quantiles(owd).mean ?? 0;
    const harq = round(0.4 + fading * 0.3 * random());
    const rlc = round(fading * 0.1 * random());
    const reordering = round(0.2 + fading * 0.2 * random());
    const scheduling = round(2 + random());
    const rest = scheduling + harq + rlc + reordering;
    cdfs.push({ owd_cdf: cdf(owd), queue_cdf: cdf(delays), frame_cdf: [], completion_cdf: [] });
    flows.push({
      name,
      ue: `ue-${i + 1}`,
      controller,
      law: controller === "cubic" ? "none" : "l4span",
      throughput_mbps: round(share * 0.97),
      goodput_mbps: round(share * 0.93),
      owd_ms: quantiles(owd),
      rtt_ms: start > 0 ? null : quantiles(owd.map((delay) => delay + 19)),
      queue_ms: quantiles(delays),
      sent_packets: Math.round((share * 1e6 * (duration - start)) / 12000),
      marked: marks.reduce((sum, value) => sum + value, 0),
      dropped: controller === "cubic" ? Math.floor(random() * 12) : 0,
      retransmissions: controller === "cubic" ? Math.floor(random() * 14) : 0,
      split_ms: { propagation: 19, router: 0, cu: 0, queuing: round(mean - 19 - rest), scheduling, harq, rlc, reordering },
      media: null,
      transfers: null,
    });
    ues.push({
      name: `ue-${i + 1}`,
      channel,
      throughput_mbps: round(share * 0.97),
      queue_ms: quantiles(delays),
      mcs_mean: round(mcs.reduce((sum, value) => sum + value, 0) / mcs.length),
      bler: channel === "static" ? null : round(0.08 + 0.04 * random()),
      marked: marks.reduce((sum, value) => sum + value, 0),
      dropped: 0,
      prb_share: round(1 / count),
      satisfied: null,
      anbr: null,
      uplink_anbr: null,
      uplink: null,
      cell: "",
      position_m: null,
      handovers: null,
      sinr_db: null,
    });
  }
  return {
    tidemark: "0.1.0",
    name: count <= 3 ? "first-look" : "crowd",
    description: "Made up: a download to each phone of one cell",
    seed: 1,
    duration_s: duration,
    warmup_s: 2,
    scenario: `# made up: </script><b>not markup</b>\nname = "first-look"\nduration = "${duration} s"\n\n[cell]\nbandwidth = "20 MHz"\n`,
    cell: { utilisation: 0.934, uplink_utilisation: null, throughput_mbps: 38.2, satisfied: null, conservation: `bytes sent = delivered + dropped + queued holds for ${count} flows` },
    flows,
    cdfs,
    ues,
    bearers: /** @type {Record<string, unknown>[]} */ (ues.map(({ name }) => ({ ...BEARER, ue: name }))),
    series: { t_s, ...series },
  };
}

/**
 * A run of a network: the small one with cells around it, recommendations, and with a second bearer at its first UE.
 * @param {number} count
 */
export function network(count) {
  const run = sample(3);
  const random = uniform(count + 1);
  const { t_s } = run.series;
  const series = { throughput_mbps: rows(), utilisation: rows(), ues: rows(), handovers: rows() };
  const cells = Array.from({ length: count }, (_, i) => {
    const busy = 0.2 + 0.7 * random();
    const phase = random() * 6;
    // Before the first slot there is nothing to be used.
    const load = t_s.map((t, k) => (k === 0 ? null : round(Math.min(1, Math.max(0, busy + 0.1 * Math.sin(t + phase) + 0.1 * random())))));
    series.utilisation.push(load);
    series.throughput_mbps.push(load.map((share) => round((share ?? 0) * 40)));
    series.ues.push(t_s.map((t) => Math.round(10 + 5 * Math.sin(t / 3 + phase))));
    const handovers = t_s.map(() => (random() < 0.05 ? 1 : 0));
    series.handovers.push(handovers);
    const name = `${Math.floor(i / 3) + 1}${"ABC"[i % 3]}`;
    return { name, utilisation: round(busy), throughput_mbps: round(busy * 40), ues: 10.2, handovers: handovers.filter((came) => came > 0).length, satisfied: i % 2 === 0 ? 0.75 : null, position_m: [round(180 * Math.cos(Math.floor(i / 3))), round(180 * Math.sin(Math.floor(i / 3)))], azimuth_deg: 30 + 120 * (i % 3) };
  });
  const queue = quantiles([1, 2, 3, 5, 8]);
  const bearer = { ...BEARER, queue_ms: queue };
  const bearers = [
    bearer,
    { ...bearer, direction: "uplink", throughput_mbps: 0.25, marked: 0, dropped: 0, in_budget: 0.5 },
    { ...bearer, drb: 2, qfi: [2, 3], five_qi: [80, 7], law: "ramp", delay_budget_ms: 10, in_budget: 1, dropped: 0 },
    // Without traffic nothing was met or missed.
    { ...bearer, ue: "ue-2", throughput_mbps: 0, queue_ms: null, marked: 0, dropped: 0, in_budget: null },
  ];
  const ues = run.ues.map((ue, i) => ({
    ...ue,
    anbr: i === 0 ? { recommendations: 450, mean_mbps: 11.25 } : null,
    cell: `${i + 1}b`,
    position_m: [120.5 * i, round(60 - 80.2 * i)],
    handovers: i,
    sinr_db: round(14.5 - 6 * i),
  }));
  const places = {
    east_m: ues.map((_, i) => t_s.map((t) => round(120.5 * i + 2 * (t - 20)))),
    north_m: ues.map((_, i) => t_s.map(() => round(60 - 80.2 * i))),
    sinr_db: ues.map((_, i) => t_s.map((t) => round(14.5 - 6 * i + Math.sin(t)))),
    // The second UE changes cells at half time, the third twice.
    cell: ues.map((_, i) => t_s.map((t) => (i === 1 && t > 10 ? 4 : i === 2 && t > 6 && t < 14 ? 7 : i))),
  };
  // The first recommendation comes a second after the start.
  const recommended_mbps = ues.map((_, i) => t_s.map((t) => (i === 0 && t > 1 ? round(11 + Math.sin(t / 2)) : null)));
  return { ...run, name: "network", cells, bearers, ues, series: { ...run.series, ues: { ...run.series.ues, ...places, recommended_mbps }, cells: series } };
}

/**
 * A run whose senders have state: the small one, of which all but the second pace, the third has an encoder, and the first and the third know
 * the share of marks.
 */
export function senders() {
  const run = sample(3);
  const { t_s, flows } = run.series;
  /** @param {(t: number) => number} value */
  const over = (value) => t_s.map((t) => round(value(t)));
  const state = {
    pacing_mbps: [over((t) => 14 + 2 * Math.sin(t)), [], over((t) => 9 + Math.sin(t / 2))],
    target_mbps: [[], [], over((t) => 7 + Math.cos(t / 2))],
    alpha: [over((t) => 0.2 + 0.1 * Math.sin(t / 3)), [], over((t) => 0.4 + 0.1 * Math.cos(t))],
  };
  return { ...run, name: "senders", series: { ...run.series, flows: { ...flows, ...state } } };
}

/**
 * A run with frames and pages: the small one, whose first two flows carry frames, the second with freezes, and whose third carries pages.
 */
export function video() {
  const run = sample(3);
  const random = uniform(5);
  const { t_s } = run.series;
  const frame_delay_ms = run.flows.map((_, i) => (i < 2 ? t_s.map((t) => round(8 + 30 * i + 4 * Math.sin(t) + 2 * random())) : []));
  const delays = run.flows.map((_, i) => Array.from({ length: 1000 }, () => 6 + 30 * i + 8 * random()).sort((a, b) => a - b));
  const completions = [120, 180, 250, 900];
  const flows = run.flows.map((flow, i) => {
    const media = {
      frames_sent: 1200, frames_discarded: 0, frames_received: 1200 - 40 * i, frames_lost: 40 * i, freezes: 2 * i, frozen_s: 0.75 * i,
      delay_ms: quantiles(delays[i] ?? []), sender_queue_ms: quantiles([0, 1, 2]), delay_budget_ms: 15, in_budget: i === 0 ? 0.99417 : 0.125, satisfied: i === 0,
    };
    return i < 2 ? { ...flow, media } : { ...flow, transfers: { completed: 37, completion_ms: quantiles(completions) } };
  });
  const cdfs = run.cdfs.map((of, i) => (i < 2 ? { ...of, frame_cdf: cdf(delays[i] ?? []) } : { ...of, completion_cdf: cdf(completions) }));
  const ues = run.ues.map((ue, i) => (i < 2 ? { ...ue, satisfied: i === 0 } : ue));
  const freezes = [[5, 0.25], [12.4, 0.5]].map(([t_s, frozen_s]) => ({ flow: flows[1]?.name, t_s, frozen_s }));
  const cell = { ...run.cell, satisfied: 0.5 };
  return { ...run, name: "video", cell, flows, cdfs, ues, freezes, series: { ...run.series, flows: { ...run.series.flows, frame_delay_ms } } };
}

/**
 * A run in which UEs send: the small one, whose third UE sends nothing.
 */
export function uploads() {
  const run = sample(3);
  const random = uniform(7);
  const { t_s } = run.series;
  const series = { throughput_mbps: rows(), queue_ms: rows(), reported_kb: rows(), mcs: rows(), recommended_mbps: rows() };
  const ues = run.ues.map((ue, i) => {
    const sends = i < 2;
    const delay = t_s.map((t) => (sends ? round(15 + 10 * i + 8 * Math.sin(t) + 3 * random()) : null));
    series.throughput_mbps.push(t_s.map((t) => (sends ? round(4 - i + Math.sin(t / 2)) : 0)));
    series.queue_ms.push(delay);
    series.reported_kb.push(delay.map((wait) => (sends ? round((wait ?? 0) * 0.5) : 0)));
    series.mcs.push(t_s.map((t) => (sends ? round(14 + 4 * i + 2 * Math.sin(t)) : null)));
    series.recommended_mbps.push(t_s.map((t) => (i === 0 ? round(5 + Math.sin(t / 3)) : null)));
    const uplink = { throughput_mbps: round(4 - i), queue_ms: quantiles([9, 14, 17, 22, 31]), mcs_mean: 14.2, bler: 0.0931, prb_share: 0.47, blocks: 12034, harq_retransmissions: 1180, lost_blocks: 3, marked: 412 };
    return { ...ue, uplink_anbr: i === 0 ? { recommendations: 440, mean_mbps: 5.125 } : null, uplink: sends ? uplink : null };
  });
  const cell = { ...run.cell, uplink_utilisation: 0.951 };
  return { ...run, name: "uploads", cell, ues, series: { ...run.series, uplinks: series } };
}

/**
 * A run over routers: the small one, whose first two flows wait in one or two of them as well; the third passes none.
 */
export function routed() {
  const run = sample(3);
  const random = uniform(11);
  const { t_s } = run.series;
  const waits = [5.25, 12.5];
  /** @param {number} router */
  const waited = (router) => t_s.map((t) => (t < 2 ? null : round((waits[router] ?? 0) * (1 + 0.5 * Math.sin(t + router)) + random())));
  const series = {
    throughput_mbps: waits.map((_, router) => t_s.map((t) => round(14 + 5 * router + Math.sin(t)))),
    capacity_mbps: waits.map((_, router) => t_s.map((t) => (t < 10 ? 15 : 20) + 10 * router)),
    queue_ms: [waited(0), waited(1)],
    marks: waits.map((_, router) => t_s.map(() => (router === 1 ? Math.floor(random() * 6) : 0))),
  };
  const queue_ms = quantiles([1, 3, 5, 8, 13]);
  const router = { name: "transit", law: "codel", capacity_mbps: 17.5, throughput_mbps: 14, utilisation: 0.8, queue_ms, tdq_s: [], marked: 0, dropped: 31 };
  const routers = [router, { ...router, name: "peering", law: "dualpi2", capacity_mbps: 27.5, throughput_mbps: 19, utilisation: 0.691, marked: 512, dropped: 0 }];
  const flows = run.flows.map((flow, i) => {
    const part = [5.6, 18.3][i] ?? 0;
    const { mean, p50, p95, p99, p999 } = flow.owd_ms;
    const owd_ms = { mean: round(mean + part), p50: round(p50 + part), p95: round(p95 + part), p99: round(p99 + part), p999: round(p999 + part) };
    return { ...flow, routers: ["transit", "peering"].slice(0, 2 - i), owd_ms, split_ms: { ...flow.split_ms, router: part } };
  });
  return { ...run, name: "routed", flows, routers, series: { ...run.series, routers: series } };
}

/**
 * The built page with data inside, made as the command makes it.
 * @param {string} page
 * @param {unknown} data
 */
export function embed(page, data) {
  return page.replace("/*TIDEMARK_DATA*/", () => JSON.stringify(data).replaceAll("<", "\\u003c"));
}
