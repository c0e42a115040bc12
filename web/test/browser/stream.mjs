/** The page of streams, whose server and connections this test stands for. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { built, dist, faults, findChromium, launch, legibility, plots, settle, shot, tableText } from "./page.mjs";

built();
const browser = await launch(/** @type {string} */ (findChromium()));
after(() => browser.close());

const TOKEN = "0123456789abcdef0123456789abcdef";
const CONTROLLERS = { controllers: [["scream", "SCReAM version 2"], ["gcc", "Google Congestion Control"]], chosen: "scream", l4s: true };
const dial = { name: "low", key: "marker.low", unit: "ms", suffix: " ms", value: 5, min: 0.5, max: 100, step: 0.5 };
const CELL = {
  now: {
    name: "5g-static", t_s: 12, lateness_us: null, busy: 0.2, uplink_use: null, warning: null, flows: [], marks: [],
    ues: [{ name: "ue", channel: "static", law: "ramp", down_mbps: 6.5, up_mbps: 0.2, queue_p95_ms: 12.5, uplink_queue_p95_ms: null, marked: 3, ce_packets: 3, dropped: 0, mcs: 20, recommended_down_mbps: null, recommended_up_mbps: null }],
  },
  controls: { ues: [{ name: "ue", settings: [{ name: "Law", first: null, key: "marker.law", kind: "ramp", kinds: ["none", "ramp", "tide"], dials: [dial] }] }] },
};

/** A connection that is there at once and receives nothing but statistics. */
function stub() {
  globalThis.RTCPeerConnection = /** @type {any} */ (class {
    iceGatheringState = "complete";
    localDescription = { sdp: "offer" };
    addTransceiver() {}
    async setLocalDescription() {}
    async setRemoteDescription() {}
    async getStats() {
      return new Map([["1", { type: "inbound-rtp", kind: "video", freezeCount: 2 }]]);
    }
    close() {}
  });
}

/**
 * Opens the page of a server with this cell; all requests but those of the state are in `asked`.
 * @param {{ cell?: typeof CELL | null, width?: number, colorScheme?: "light" | "dark", address?: string, feedback?: string }} [how]
 */
async function open({ cell = CELL, width = 1440, colorScheme = "light", address = "", feedback = "rfc8888" } = {}) {
  /** @type {string[]} */
  const asked = [];
  let row = 0;
  let opened = 0;
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  await context.addInitScript(stub);
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on("console", (said) => ["error", "warning"].includes(said.type()) && complaints.push(said.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.route("http://localhost:1/**", (route) => {
    const request = route.request();
    const { pathname, search } = new URL(request.url());
    if (pathname.endsWith("/state")) {
      row += 1;
      const state = { time_s: row, target_mbps: 4 + (row % 2), sent_mbps: 3.5, rtt_ms: 25, marks: 10 * row };
      return route.fulfill({ json: { controller: "scream", l4s: true, feedback, is_over: false, rows: [state] } });
    }
    if (pathname === "/cell") return route.fulfill({ json: cell });
    if (pathname === "/") return route.fulfill({ contentType: "text/html; charset=utf-8", body: readFileSync(new URL("stream.html", dist), "utf8") });
    if (pathname === "/controllers") return route.fulfill({ json: CONTROLLERS });
    asked.push([request.method(), pathname + search, pathname === "/ctl" ? request.postData() : ""].join(" ").trim());
    if (pathname === "/whep") return route.fulfill({ status: 201, headers: { Location: `/whep/${++opened}` }, body: "answer" });
    return route.fulfill({ contentType: "text/plain", body: "" });
  });
  await page.goto(`http://localhost:1/${address}`);
  await settle(page);
  return { page, complaints, asked };
}

for (const [colorScheme, width] of /** @type {const} */ ([["light", 1440], ["dark", 390]])) {
  test(`${colorScheme}, ${width} px: the stream's figures and the cell's queue, without a fault`, async () => {
    const { page, complaints } = await open({ width, colorScheme, address: `#token=${TOKEN}` });
    await page.waitForTimeout(2_500);
    const all = await plots(page);
    assert.deepEqual(all.map(({ id }) => id), ["sent_mbps", "delay_p95_ms", "rtt_ms", "marks_per_s", "freezes", "down_mbps", "queue_p95_ms", "up_mbps", "mcs"]);
    const { heads, rows } = await tableText(page, "Streams now");
    assert.deepEqual(heads, ["Stream", "sent", "target", "round trip", "marks per s", "freezes"]);
    assert.deepEqual([rows[0]?.[0], rows[0]?.[1], rows[0]?.[3], rows[0]?.[4], rows[0]?.[5]], ["1: scream, L4S on", "3.50", "25.0", "10", "2"]);
    assert.deepEqual((await legibility(page)).filter(({ contrast }) => contrast < 4.5), []);
    assert.deepEqual(await faults(page), []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
    await page.screenshot({ path: shot(`stream-${colorScheme}-${width}`), fullPage: true });
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
}

test("a choice begins a new stream, another controller stands beside it, and the law changes by the token", async () => {
  const { page, asked } = await open({ address: `?l4s=0#token=${TOKEN}` });
  await page.getByLabel("L4S").first().check();
  await page.getByRole("button", { name: "Another controller beside it" }).click();
  await page.locator("#controls").getByLabel("Law", { exact: true }).selectOption("tide");
  await page.waitForTimeout(500);
  assert.deepEqual(asked.filter((request) => !request.includes("/shown")), [
    "POST /whep?controller=scream&l4s=0",
    "DELETE /whep/1",
    "POST /whep?controller=scream&l4s=1",
    "POST /whep?controller=gcc&l4s=0",
    "POST /ctl set\nmarker.law=tide",
  ]);
  assert.equal(await page.getByRole("button", { name: "Another controller beside it" }).count(), 0);
  await page.context().close();
});

test("a page without a cell has no plots of it, and one without the token no controls", async () => {
  for (const [cell, address, count] of /** @type {const} */ ([[null, `#token=${TOKEN}`, 0], [CELL, "", 1]])) {
    const { page } = await open({ cell, address });
    await page.waitForTimeout(700);
    assert.equal(await page.locator("#cell").count(), count);
    assert.equal(await page.locator("#controls").count(), 0);
    await page.context().close();
  }
});

test("a stream without reports of marks, or of packets, is named", async () => {
  for (const [feedback, said] of /** @type {const} */ ([["rfc8888", ""], ["transport-wide", "This browser reports no marks: packets leave without ECN"], ["none", "This browser reports no packets: the rate is fixed."]])) {
    const { page } = await open({ feedback });
    await page.getByRole("status").getByText(feedback).waitFor();
    const notices = await page.locator(".stream .warning").allTextContents();
    assert.ok(said === "" ? notices.length === 0 : notices[0]?.startsWith(said), `${feedback}: ${notices}`);
    await page.context().close();
  }
});

/** A stream of twenty seconds that has ended. */
const RECORDED = {
  summary: {
    controller: "scream", l4s: true, feedback: "rfc8888", seconds: 20.4, rate_mbps: 4.213, marks_reported: 120, losses: 2, frames_shown: 581, frames_discarded: 3,
    frame_delay_ms: { p50: 95.2, p95: 121.5, p99: 140 }, click_to_picture_ms: { p50: 130, p95: 150, p99: 151 }, ssim: { p5: 0.912, p50: 0.961, mean: 0.955, pictures: 38 }, browser: { freezeCount: 1 },
  },
  points: Array.from({ length: 20 }, (_, at) => ({ t_s: at + 1, target_mbps: 5, sent_mbps: 3 + (at % 3), rtt_ms: 25 + at, marks_per_s: at === 0 ? null : 6, delay_p95_ms: 100 + at, freezes: at > 9 ? 1 : 0 })),
};

for (const [colorScheme, width] of /** @type {const} */ ([["light", 1440], ["dark", 390]])) {
  test(`${colorScheme}, ${width} px: a recorded stream has the figures of the whole and the plots of the page, and asks for nothing`, async () => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    const page = await context.newPage();
    /** @type {string[]} */
    const complaints = [];
    page.on("console", (said) => ["error", "warning"].includes(said.type()) && complaints.push(said.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    const html = readFileSync(new URL("stream.html", dist), "utf8").replace('id="recorded">', `$&${JSON.stringify(RECORDED)}`);
    await page.route("http://localhost:1/**", (route) =>
      new URL(route.request().url()).pathname === "/" ? route.fulfill({ contentType: "text/html; charset=utf-8", body: html }) : route.abort(),
    );
    await page.goto("http://localhost:1/");
    await settle(page);
    assert.deepEqual((await plots(page)).map(({ id }) => id), ["sent_mbps", "delay_p95_ms", "rtt_ms", "marks_per_s", "freezes"]);
    const { rows } = await tableText(page, "The whole stream");
    assert.deepEqual(rows, [["scream, L4S on", "4.21", "95.2", "121.5", "140.0", "130.0", "0.912", "0.961", "0.955", "1", "581", "3", "120", "2"]]);
    assert.deepEqual((await legibility(page)).filter(({ contrast }) => contrast < 4.5), []);
    assert.deepEqual(await faults(page), []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
    await page.screenshot({ path: shot(`stream-recorded-${colorScheme}-${width}`), fullPage: true });
    assert.deepEqual(complaints, []);
    await context.close();
  });
}
