/** The page of a live cell, CU or hop, whose stream of events this test gives. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { built, dist, faults, findChromium, launch, legibility, plots, settle, shot, tableText } from "./page.mjs";

built();
const browser = await launch(/** @type {string} */ (findChromium()));
after(() => browser.close());

const SECONDS = 60;
const NAMES = ["desk", "walker"];
const t_s = Array.from({ length: SECONDS * 10 }, (_, index) => (index + 1) / 10);
/** @param {number} scale */
const rows = (scale) => NAMES.map((_, ue) => t_s.map((t) => scale * (1 + ue) * (1 + 0.5 * Math.sin(t + ue))));
/** Counters that grow by this much in a second, and by twice as much. @param {number} each */
const counters = (each) => NAMES.map((_, row) => t_s.map((t) => Math.round(each * (1 + row) * (t + 0.5 * Math.sin(t)))));
const past = { t_s, rows: { down_mbps: rows(10), up_mbps: rows(1), queue_p95_ms: rows(8), uplink_queue_p95_ms: NAMES.map(() => t_s.map(() => null)), mcs: rows(9) } };

/** State of the cell at a time. @param {number} t @param {string | null} warning */
const state = (t, warning = null) => ({
  name: "5g-walking", t_s: t, lateness_us: { p50: 12, p99: 60, p999: 200 }, busy: 0.31, uplink_use: 0.2, warning,
  ues: NAMES.map((name, ue) => ({ name, channel: "pedestrian", law: "tide", down_mbps: 12.5 + ue, up_mbps: 1, queue_p95_ms: ue === 0 ? 5.5 : null, uplink_queue_p95_ms: null, marked: 7, ce_packets: 7, dropped: 0, mcs: 20, recommended_down_mbps: null, recommended_up_mbps: null })),
  flows: [
    { name: "tcp 192.0.2.1:443", ue: "desk", down_mbps: 12.345, up_mbps: 0.21, ect1: 12_345, ect0: 0, not_ect: 3, ce: 0, marked: 7, dropped: 1, round_trip_ms: 23.4 },
    { name: "icmp 192.0.2.1", ue: "walker", down_mbps: 0, up_mbps: null, ect1: 0, ect0: 0, not_ect: 5, ce: 0, marked: 0, dropped: 0, round_trip_ms: null },
  ],
  marks: [{ t_s: t - 1, flow: "desk tcp", packet: 3, verdict: "mark", law: "tide", rule: "height", estimated_ms: 11, queued_ms: 12 }],
});

/** @param {string} event @param {unknown} data */
const message = (event, data) => `${event === "" ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

const TOKEN = "0123456789abcdef0123456789abcdef";

/** @param {string} name @param {number} value */
const dial = (name, value) => ({ name, key: `ue.1.marker.${name}`, unit: "ms", suffix: " ms", value, min: 0.5, max: 100, step: 0.5 });
/** Controls of two UEs, of which the second has this law. @param {string} law @param {ReturnType<typeof dial>[]} dials */
const controls = (law, dials) => ({
  ues: NAMES.map((name, ue) => ({
    name,
    settings: [
      { name: "Channel", first: null, key: `ue.${ue}.channel.model`, kind: "pedestrian", kinds: ["static", "pedestrian", "vehicular", "fixed"], dials: [{ name: "SNR", key: `ue.${ue}.channel.snr_db`, unit: "dB", suffix: "", value: 22, min: -10, max: 40, step: 0.5 }] },
      { name: "Law", first: ue === 0 ? null : 'ue.1.marker={ law = "tide" }', key: `ue.${ue}.marker.law`, kind: law, kinds: ["none", "ramp", "tide"], dials },
    ],
  })),
});

/**
 * Opens the page; what it posts is in `posted`, and `no` is refused.
 * @param {string} stream @param {{ width?: number, colorScheme?: "light" | "dark", fragment?: string }} [screen]
 */
async function open(stream, { width = 1440, colorScheme = "light", fragment = "" } = {}) {
  /** @type {[authorization: string | undefined, body: string | null][]} */
  const posted = [];
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on("console", (said) => ["error", "warning"].includes(said.type()) && complaints.push(said.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.route("http://localhost:1/**", (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path === "/events") return route.fulfill({ contentType: "text/event-stream", body: stream });
    if (path !== "/ctl") return route.fulfill({ contentType: "text/html; charset=utf-8", body: readFileSync(new URL("live.html", dist), "utf8") });
    const body = route.request().postData();
    posted.push([route.request().headers().authorization, body]);
    const isRefused = body?.endsWith("none");
    return route.fulfill({ status: isRefused ? 400 : 200, contentType: "text/plain", body: isRefused ? "law: not now\n" : "walker: changed\n" });
  });
  await page.goto(`http://localhost:1/${fragment}`);
  await settle(page);
  return { page, complaints, posted };
}

/** Checks how the page looks, keeps a picture of it, and closes it. @param {{ page: import("playwright-core").Page, complaints: string[] }} opened @param {string} name */
async function close({ page, complaints }, name) {
  assert.deepEqual((await legibility(page)).filter(({ contrast }) => contrast < 4.5), []);
  assert.deepEqual(await faults(page), []);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
  await page.screenshot({ path: shot(name), fullPage: true });
  assert.deepEqual(complaints, []);
  await page.context().close();
}

const stream = message("past", past) + [60.25, 60.5, 60.75].map((t) => message("", state(t))).join("");

for (const [colorScheme, width] of /** @type {const} */ ([["light", 1440], ["dark", 390]])) {
  test(`${colorScheme}, ${width} px: the cell's state and its plots since the start, without a fault`, async () => {
    const opened = await open(stream, { width, colorScheme });
    const { page } = opened;
    assert.equal(await page.locator("h1").textContent(), "5g-walking");
    const all = await plots(page);
    assert.deepEqual(all.map(({ id }) => id), ["down_mbps", "queue_p95_ms", "up_mbps", "mcs"]);
    for (const { id, lines } of all) for (const { length } of lines) assert.ok(length > 100, id);
    const { heads, rows: shown } = await tableText(page, "UEs now");
    assert.deepEqual(heads, ["UE", "Law", "Mbit/s", "queue p95 (ms)", "Mbit/s", "marked", "dropped", "MCS"]);
    assert.deepEqual(shown, [["desk", "tide", "12.50", "5.5", "1.00", "7", "0", "20"], ["walker", "tide", "13.50", "–", "1.00", "7", "0", "20"]]);
    const flows = await tableText(page, "Flows now");
    assert.deepEqual(flows.heads, ["Flow", "UE", "down", "up", "RTT (ms)", "ECT(1)", "ECT(0)", "Not-ECT", "CE", "marked", "dropped"]);
    assert.deepEqual(flows.rows, [
      ["tcp 192.0.2.1:443", "desk", "12.35", "0.21", "23.4", "12345", "0", "3", "0", "7", "1"],
      ["icmp 192.0.2.1", "walker", "0.00", "–", "–", "0", "0", "5", "0", "0", "0"],
    ]);
    assert.deepEqual((await tableText(page, "Last marks")).rows, [["59.750", "desk tcp", "mark", "tide: height", "11.0", "12.0"]]);
    await close(opened, `live-${colorScheme}-${width}`);
  });
}

const WAYS = ["to-right", "to-left"];
const hop = {
  past: { t_s, rows: { rate_mbps: WAYS.map(() => t_s.map((t) => (t < 30 ? 20 : 10))), carried_bytes: counters(600_000), queue_p95_ms: rows(4), marked: counters(15), dropped: counters(0) } },
  /** State of a hop at a time. @param {number} t */
  state: (t) => ({
    name: "hop", t_s: t, refused: 0, unreadable: 0, overload: 0, lost_by_ports: 0,
    ways: WAYS.map((name, way) => ({ name, rate_mbps: 10, carried_bytes: 600_000 * (1 + way) * t, queue_p95_ms: way === 0 ? 4.25 : null, packets_in: 24_000, packets_out: 23_990, marked: 15 * (1 + way) * t, dropped: 0 })),
  }),
  rows: ["Directions now", ["Direction", "Link (Mbit/s)", "Queue p95 (ms)", "in", "out", "marked", "dropped"], ["to-right", "10.00", "4.3", "24000", "23990", "915", "0"]],
  plots: ["carried_bytes", "queue_p95_ms", "marked", "dropped"],
};
const cu = {
  past: { t_s, rows: { sent_bytes: counters(1_500_000), queue_ms: rows(9), egress_mbps: rows(12), marked: counters(20) } },
  /** State of a CU at a time. @param {number} t */
  state: (t) => ({
    name: "gnb", t_s: t, downlink: 70_000, uplink: 35_000, marked: 3_600, dropped: 0, held: 0, overflow: 0, reports: 12_000, lost: 3, unroutable: 0, not_admitted: {},
    warning: "the DU's reports for 1 bearers follow the packets it received", marker: {},
    bearers: [1, 2].map((drb) => ({ ue: "desk", drb, law: "tide", packets: 35_000, marked: 20 * drb * t, dropped: 0, sent_bytes: 1_500_000 * drb * t, held_bytes: 0, reports: 6_000, lost: 3, standing_bytes: 9_000, backlog_bytes: 8_000, queue_ms: drb === 1 ? 9.5 : null, egress_mbps: 12.25, report_age_ms: 4 })),
  }),
  rows: ["Bearers now", ["Bearer", "Law", "delay (ms)", "egress (Mbit/s)", "down", "marked", "dropped", "lost at F1-U", "number"], ["desk, DRB 1", "tide", "9.5", "12.25", "35000", "1220", "0", "3", "6000"]],
  plots: ["sent_bytes", "queue_ms", "egress_mbps", "marked"],
};

for (const [name, program, colorScheme, width] of /** @type {const} */ ([["hop", hop, "light", 1440], ["hop", hop, "dark", 390], ["cu", cu, "dark", 1440], ["cu", cu, "light", 390]])) {
  test(`${colorScheme}, ${width} px: the page of a ${name} has its rows and their plots since the start`, async () => {
    const opened = await open(message("past", program.past) + [60.5, 60.75, 61].map((t) => message("", program.state(t))).join(""), { width, colorScheme });
    const { page } = opened;
    assert.equal(await page.locator("h1").textContent(), program.state(0).name);
    const all = await plots(page);
    assert.deepEqual(all.map(({ id }) => id), program.plots);
    for (const { id, lines } of all) for (const { length } of lines) assert.ok(length > 100, id);
    const [caption, heads, first] = program.rows;
    const now = await tableText(page, /** @type {string} */ (caption));
    assert.deepEqual([now.heads, now.rows[0]], [heads, first]);
    await page.locator("#marked .plot").focus();
    await page.keyboard.press("ArrowLeft");
    // Of each row's counter, the growth in the last quarter of a second.
    assert.match(await page.locator("#marked .readout").innerText(), name === "hop" ? /61\.0 s\s+15\.0\s+30\.0/ : /61\.0 s\s+20\.0\s+40\.0/);
    await close(opened, `live-${name}-${colorScheme}-${width}`);
  });
}

const commanded = message("controls", controls("ramp", [dial("low", 5), dial("high", 10)])) + stream;

for (const [colorScheme, width] of /** @type {const} */ ([["light", 390], ["dark", 1440]])) {
  test(`${colorScheme}, ${width} px: a page with the token sends the commands of \`tidemark ctl\``, async () => {
    const opened = await open(commanded, { width, colorScheme, fragment: `#token=${TOKEN}` });
    const { page, posted } = opened;
    const region = page.locator("#controls");
    await region.getByRole("combobox", { name: "UE", exact: true }).selectOption("walker");
    await region.getByLabel("Channel", { exact: true }).selectOption("static");
    await region.getByLabel("Law", { exact: true }).selectOption("tide");
    await region.getByLabel("low in ms").fill("7.5");
    await region.getByLabel("low in ms").press("Enter");
    await region.getByLabel("high", { exact: true }).press("ArrowRight");
    await region.getByLabel("Length in ms").fill("250");
    await region.getByRole("button", { name: "Outage" }).click();
    await region.getByRole("button", { name: "Handover" }).click();
    await region.getByText("tidemark ctl handover walker: walker: changed").waitFor();
    const first = 'ue.1.marker={ law = "tide" }';
    assert.deepEqual(posted.map(([, body]) => body?.split("\n")), [
      ["set", "ue.1.channel.model=static"],
      ["set", first, "ue.1.marker.law=tide"],
      ["set", first, "ue.1.marker.low=7.5 ms"],
      ["set", first, "ue.1.marker.high=10.5 ms"],
      ["outage", "walker", "250 ms"],
      ["handover", "walker"],
    ]);
    assert.deepEqual([...new Set(posted.map(([authorization]) => authorization))], [`Bearer ${TOKEN}`]);
    await close(opened, `live-controls-${colorScheme}-${width}`);
  });
}

test("a refused command says why, and what held before is shown", async () => {
  const { page } = await open(commanded, { fragment: `#token=${TOKEN}` });
  const law = page.locator("#controls").getByLabel("Law", { exact: true });
  await law.selectOption("none");
  await page.getByText("refused: law: not now").waitFor();
  assert.equal(await law.inputValue(), "ramp");
  await page.context().close();
});

test("a page without the token, or of a cell that takes no commands, has no controls", async () => {
  for (const [said, fragment] of /** @type {const} */ ([[commanded, ""], [stream, `#token=${TOKEN}`]])) {
    const { page } = await open(said, { fragment });
    assert.equal(await page.locator("#controls").count(), 0);
    await page.context().close();
  }
});

test("what comes goes on where the past ends, and the cursor reads it", async () => {
  const { page, complaints } = await open(stream);
  await page.locator("#down_mbps .plot").focus();
  await page.keyboard.press("ArrowLeft");
  assert.match(await page.locator("#down_mbps .readout").innerText(), /60\.8 s\s+12\.5\s+13\.5/);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.match(await page.locator("#down_mbps .readout").innerText(), /60\.0 s/);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test("a warning of the cell is announced", async () => {
  const { page } = await open(message("past", past) + message("", state(61, "OVERLOAD: this machine can carry 40 Mbit/s of this cell")));
  assert.match(await page.getByRole("status").innerText(), /OVERLOAD/);
  await page.context().close();
});
