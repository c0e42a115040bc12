/** What it takes to open reports: `node test/browser/opening.mjs FILE...` prints a row for each, the median of five openings. */

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { findChromium, launch } from "./page.mjs";

const TIMES = 5;

const chromium = findChromium();
if (!chromium) throw new Error("no Chromium: name one by CHROMIUM=/path/to/chromium");

/** @param {string} url */
async function opening(url) {
  // A browser of its own: what another page left is no part of this one's memory.
  const browser = await launch(/** @type {string} */ (chromium));
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const session = await page.context().newCDPSession(page);
  // Times of the page's thread are those of its processor, which another program's load does not lengthen.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const began = performance.now();
  await page.goto(url);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const seconds = (performance.now() - began) / 1e3;
  /** @param {string} name */
  const metric = async (name) => (await session.send("Performance.getMetrics")).metrics.find((metric) => metric.name === name)?.value ?? 0;
  const busy = await metric("TaskDuration");
  await session.send("HeapProfiler.collectGarbage");
  const heap = await metric("JSHeapUsedSize");
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  await browser.close();
  return { seconds, busy, heap: heap / 1e6, nodes };
}

/** @param {number[]} values */
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

for (const file of process.argv.slice(2)) {
  /** @type {Awaited<ReturnType<typeof opening>>[]} */
  const openings = [];
  for (let time = 0; time < TIMES; time++) openings.push(await opening(pathToFileURL(resolve(file)).href));
  const [seconds, busy, heap, nodes] = /** @type {const} */ (["seconds", "busy", "heap", "nodes"]).map((what) => median(openings.map((one) => one[what])));
  console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(2)} MB, ${seconds?.toFixed(2)} s, ${busy?.toFixed(2)} s of a processor, heap ${heap?.toFixed(0)} MB, ${nodes} elements`);
}
