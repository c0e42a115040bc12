/** What a reader follows and takes away: sentences, moments, links, pictures and their data. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { routed, sample, uploads, video } from "../../sample/sample.js";
import { built, faults, findChromium, launch, open, plots, settle, shot, write } from "./page.mjs";

built();
const browser = await launch(/** @type {string} */ (findChromium()));
after(() => browser.close());

const run = sample(3);
const HEADING = "flow,packet,sent_s,t_s,verdict,law,rule,mark_odds,drop_odds,draw_kind,draw,estimated_ms,queued_ms,arrived_s,answered_s";
const rows = run.series.t_s.map((t, i) => {
  const at = (/** @type {number} */ later) => (t - 0.05 + later).toFixed(4);
  return `${run.flows[0]?.name},${i},${at(-0.01)},${at(0)},mark,l4span,l4s sojourn,0.5,0.0,random,0.25,9.0,8.0,${at(0.01)},`;
});
const url = write("taking.html", { ...run, marks: [HEADING, ...rows, ""].join("\n") });

test("a chosen moment tells why marks were set then, by key and by click, until it is closed", async () => {
  const { page, complaints, close } = await open(browser, url);
  assert.equal(await page.locator("#marks").count(), 0);
  await page.locator("#time .plot").first().focus();
  for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  const list = page.locator("#marks tbody tr");
  assert.equal(await list.count(), 6);
  assert.deepEqual(await page.locator("#marks tbody td:first-child").allTextContents(), ["1.7500", "1.8500", "1.9500", "2.0500", "2.1500", "2.2500"]);
  assert.match(await list.first().innerText(), /l4span: l4s sojourn\s+0\.500, drawn 0\.250\s+9\.00\s+8\.00\s+20\.0/);
  assert.deepEqual(await faults(page), []);
  await page.screenshot({ path: shot("marks") });
  await page.getByRole("button", { name: "Close" }).click();
  assert.equal(await page.locator("#marks").count(), 0);
  const over = page.locator("#ue-queue .overlay");
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  assert.ok(box);
  await page.mouse.click(box.x + box.width / 2, box.y + 20);
  assert.match((await page.locator("#marks h3").textContent()) ?? "", /at (9\.9|10\.0|10\.1)0 s/);
  assert.deepEqual(complaints, []);
  await close();
});

test("the address keeps zoom, moment and choice, and a reader who opens it sees the same", async () => {
  const { page, close } = await open(browser, url);
  await page.locator("#time .plot").first().focus();
  for (let i = 0; i < 50; i++) await page.keyboard.press("ArrowRight");
  for (const key of ["Enter", "+", "+"]) await page.keyboard.press(key);
  await page.locator("#time").getByRole("button", { name: "cubic-2" }).click();
  await settle(page);
  const shown = async (/** @type {import("playwright-core").Page} */ of) => ({
    ticks: await of.locator("#flow-rate .axis").first().locator("text").allTextContents(),
    moment: await of.locator("#marks h3").textContent(),
    lines: (await plots(of))[0]?.lines,
  });
  const before = await shown(page);
  assert.equal(before.lines?.length, 2);
  const again = await open(browser, page.url());
  assert.deepEqual(await shown(again.page), before);
  assert.deepEqual(again.complaints, []);
  await again.close();
  await close();
});

test("every sentence leads to the picture that shows it, with its flow or UE", async () => {
  for (const [name, data] of /** @type {const} */ ([["3", run], ["64", sample(64)], ["uploads", uploads()], ["routed", routed()], ["video", video()]])) {
    const { page, complaints, close } = await open(browser, write(`story-${name}.html`, data));
    const links = await page.locator(".story a").all();
    assert.ok(links.length >= 3, `${name}: ${links.length} sentences`);
    for (const link of links) {
      const href = new URLSearchParams(((await link.getAttribute("href")) ?? "").slice(1));
      const panel = href.get("panel") ?? "";
      await link.click();
      await settle(page);
      assert.equal(await page.locator(`[id="${panel}"]`).count(), 1, `${name}: ${panel}`);
      const box = await page.locator(`[id="${panel}"]`).boundingBox();
      assert.ok(box && box.y >= 0 && box.y < 900, `${name}: ${panel} is in the window`);
      for (const flow of href.getAll("flow")) assert.ok((await page.locator(`[id="${panel}"] .readout, #time .entries`).allTextContents()).some((text) => text.includes(flow)), `${name}: ${flow}`);
    }
    assert.deepEqual(complaints, []);
    await close();
  }
});

/** @param {import("playwright-core").Page} page @param {string} button */
async function taken(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button, exact: true }).click()]);
  return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
}

test("a picture is taken away as wide as a column, with its own colours, and its data as it is", async () => {
  const { page, complaints, close } = await open(browser, url, { colorScheme: "dark" });
  const svg = await taken(page, "Throughput as SVG");
  assert.equal(svg.name, "flow-rate.svg");
  const text = svg.content.toString();
  assert.match(text, /<svg [^>]*width="3\.5in"/);
  assert.doesNotMatch(text, /var\(/);
  for (const { name } of run.flows) assert.ok(text.includes(`>${name}<`), name);
  const drawn = await page.evaluate((source) => {
    const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
    return { error: parsed.querySelector("parsererror")?.textContent, paths: parsed.querySelectorAll("path[data-colour]").length, texts: parsed.querySelectorAll(".axis text").length };
  }, text);
  assert.deepEqual([drawn.error, drawn.paths], [undefined, 3]);
  assert.ok(drawn.texts > 6, "its axes have numbers");

  const png = await taken(page, "Throughput as PNG");
  assert.deepEqual([...png.content.subarray(1, 4)], [...Buffer.from("PNG")]);
  assert.equal(png.content.readUInt32BE(16), 2100, "3.5 inches of 600 dots");

  const csv = await taken(page, "Throughput as CSV");
  const [head, ...lines] = csv.content.toString().trim().split("\n");
  assert.equal(head, `time (s),${run.flows.map(({ name }) => `${name}: rate (Mbit/s)`).join(",")}`);
  assert.equal(lines.length, run.series.t_s.length);
  assert.deepEqual(lines[7]?.split(",").map(Number), [run.series.t_s[7], ...run.series.flows.throughput_mbps.map((row) => row[7])]);
  const parts = await taken(page, "Parts of the mean one-way delay (ms) as CSV");
  assert.equal(parts.content.toString().split("\n").length, 1 + run.flows.length);
  assert.deepEqual(complaints, []);
  await close();
});

test("pictures of many UEs, distributions and parts can be taken away too", async () => {
  const { page, complaints, close } = await open(browser, write("taking-64.html", sample(64)));
  for (const picture of ["Round-trip time", "One-way delay", "Parts of the mean one-way delay (ms)"]) {
    const { content } = await taken(page, `${picture} as SVG`);
    assert.ok(content.length > 3_000 && content.length < 400_000, `${picture}: ${content.length} bytes`);
  }
  const { content } = await taken(page, "Round-trip time as PNG");
  await page.setContent(`<img src="data:image/png;base64,${content.toString("base64")}" style="width: 700px">`);
  await page.screenshot({ path: shot("taken") });
  assert.deepEqual(complaints, []);
  await close();
});
