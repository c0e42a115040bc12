/** Parts of the page that only some runs have: a network, uploads, routers, frames, a wire alone. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { network, routed, sample, senders, uploads, video } from "../../sample/sample.js";
import { built, faults, findChromium, launch, legibility, open, plots, readouts, shot, tableText, write } from "./page.mjs";

built();
const browser = await launch(/** @type {string} */ (findChromium()));
after(() => browser.close());

/** @param {number | null | undefined} value @param {number} decimals */
const written = (value, decimals) => (value == null ? "–" : value.toFixed(decimals));

/** Plots of a section, all of whose lines are drawn. @param {import("playwright-core").Page} page @param {string[]} ids */
async function drawn(page, ids) {
  const found = (await plots(page)).filter(({ id }) => ids.includes(id));
  assert.deepEqual(found.map(({ id }) => id), ids);
  for (const { id, lines } of found) for (const { colour, length } of lines) assert.ok(length > 20 || length === 0, `${id}: line ${colour} is ${length} px long`);
  return found.map(({ lines }) => lines.map(({ length }) => length > 20));
}

/** @param {import("playwright-core").Page} page @param {string} caption */
async function allColumns(page, caption) {
  const table = page.locator(".tabled", { has: page.getByRole("region", { name: caption, exact: true }) });
  for (const button of await table.locator(":scope > button").all()) await button.click();
  return tableText(page, caption);
}

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  test(`a network, ${colorScheme}: its cells are drawn and in a table, and so are the bearers of a UE that has several`, async () => {
    const data = network(21);
    const { page, complaints, close } = await open(browser, write("sample-network.html", data), { colorScheme });
    const lines = await drawn(page, ["cell-load", "cell-rate", "cell-ues", "cell-handovers"]);
    assert.ok(lines.every((plot) => plot.length >= 2 && plot.every((line) => line)), "all cells, and the busiest");
    const cells = await allColumns(page, "Cells");
    assert.deepEqual(
      cells.rows,
      [...data.cells].sort((a, b) => b.utilisation - a.utilisation).map((cell) => [cell.name, written(cell.throughput_mbps, 2), written(100 * cell.utilisation, 1), written(cell.ues, 1), String(cell.handovers), written(cell.satisfied && 100 * cell.satisfied, 1)]),
    );
    const bearers = await allColumns(page, "Bearers");
    const spread = ["3.8", "3.0", "8.0", "8.0", "8.0"];
    assert.deepEqual(bearers.rows, [
      ["ue-1", "1", "downlink", "1", "9", "l4span", "4.50", ...spread, "12", "3", "300", "98.77"],
      ["ue-1", "1", "uplink", "1", "9", "l4span", "0.25", ...spread, "0", "0", "300", "50.00"],
      ["ue-1", "2", "downlink", "2 3", "80 7", "ramp", "4.50", ...spread, "12", "0", "10", "100.00"],
    ]);
    const ues = await allColumns(page, "UEs");
    assert.deepEqual(ues.heads.slice(-7), ["number", "mean (Mbit/s)", "cell", "east (m)", "north (m)", "Handovers", "Mean SINR (dB)"]);
    assert.deepEqual(ues.rows.map((row) => row.slice(-7)), [
      ["450", "11.25", "1b", "0", "60", "0", "14.5"],
      ["–", "–", "2b", "121", "\u221220", "1", "8.5"],
      ["–", "–", "3b", "241", "\u2212100", "2", "2.5"],
    ]);
    assert.deepEqual(await drawn(page, ["ue-recommended"]), [[true, false, false]], "a line for the UE that was recommended something");
    assert.match((await page.locator("#time").innerText()) ?? "", /10\.1 s: handover ue-2 2B/);
    assert.deepEqual((await legibility(page)).filter(({ contrast }) => contrast < 4.5), [], "WCAG 1.4.3");
    assert.deepEqual(await faults(page), []);
    await page.screenshot({ path: shot(`network-${colorScheme}`), fullPage: true });
    assert.deepEqual(complaints, []);
    await close();
  });

  test(`routers, ${colorScheme}: they have a table, plots up to their links' rates and a part of each bar, which is as long as the mean one-way delay`, async () => {
    const data = routed();
    const { page, complaints, close } = await open(browser, write("sample-routed.html", data), { colorScheme });
    assert.deepEqual(await drawn(page, ["router-rate", "router-queue", "router-marks"]), Array(3).fill([true, true]));
    assert.equal(await page.locator("#router-rate .ceiling").count(), 2);
    const { rows } = await allColumns(page, "Routers");
    const spread = ["6.0", "5.0", "13.0", "13.0", "13.0"];
    assert.deepEqual(rows, [
      ["transit", "codel", "14.00", "17.50", "80.0", ...spread, "0", "31"],
      ["peering", "dualpi2", "19.00", "27.50", "69.1", ...spread, "512", "0"],
    ]);
    const bars = await page.locator("#split .bar").evaluateAll((all) =>
      all.map((bar) => {
        /** @param {string} which */
        const width = (which) => [...bar.querySelectorAll(which)].reduce((sum, part) => sum + Number(part.getAttribute("width")), 0);
        return { number: bar.querySelector(".sum")?.textContent ?? "", width: width("[data-part]"), router: width("[data-part=router]") };
      }),
    );
    const scale = Math.max(...bars.map((bar) => bar.width)) / Math.max(...data.flows.map((flow) => flow.owd_ms.mean));
    data.flows.forEach(({ owd_ms, split_ms }, i) => {
      assert.equal(bars[i]?.number, owd_ms.mean.toFixed(1));
      assert.ok(Math.abs((bars[i]?.width ?? 0) - owd_ms.mean * scale) < 1, `bar ${i} is ${bars[i]?.width} px long`);
      assert.ok(Math.abs((bars[i]?.router ?? 0) - split_ms.router * scale) < 1, `its routers' part ${bars[i]?.router} px`);
    });
    assert.match((await page.locator(".drawing").getAttribute("aria-label")) ?? "", /transit \(codel\) to peering \(dualpi2\) to gNB/);
    assert.deepEqual((await legibility(page)).filter(({ contrast }) => contrast < 4.5), [], "WCAG 1.4.3");
    await page.screenshot({ path: shot(`routed-${colorScheme}`), fullPage: true });
    assert.deepEqual(complaints, []);
    await close();
  });
}

test("uploads: what UEs sent is drawn and in a table, in which one that sent nothing has no row", async () => {
  const data = uploads();
  const { page, complaints, close } = await open(browser, write("sample-uploads.html", data));
  await page.locator("#uplink summary").click();
  const uplink = ["uplink-rate", "uplink-queue", "uplink-mcs", "uplink-reported", "uplink-recommended"];
  const lines = await drawn(page, uplink);
  assert.deepEqual(lines.map((plot) => plot.slice(0, 2)), [...Array(4).fill([true, true]), [true, false]]);
  const { rows } = await allColumns(page, "UEs, uplink");
  const same = ["18.6", "17.0", "31.0", "31.0", "31.0", "14.2", "9.3", "47.0", "12034", "1180", "3", "412"];
  assert.deepEqual(rows.map((row) => row.slice(1)), [["4.00", ...same, "440", "5.13"], ["3.00", ...same, "–", "–"]]);
  assert.equal(await page.getByText("Uplink used").count(), 1);
  assert.deepEqual(await faults(page), []);
  await page.screenshot({ path: shot("uploads"), fullPage: true });
  // Where nobody receives anything, uploads take the downlink's place: no table and no plot is empty.
  const only = { ...data, ues: data.ues.map((ue) => ({ ...ue, throughput_mbps: 0, queue_ms: null })) };
  const alone = await open(browser, write("sample-uploads-only.html", only));
  await drawn(alone.page, uplink);
  assert.equal(await alone.page.getByRole("region", { name: "UEs", exact: true }).count(), 0);
  await alone.page.screenshot({ path: shot("uploads-only"), fullPage: true });
  await alone.close();
  assert.deepEqual(complaints, []);
  await close();
});

test("frames: their delays, their freezes and the share within the budget are shown, and pages beside them", async () => {
  const { page, complaints, close } = await open(browser, write("sample-video.html", video()));
  const { heads, rows } = await tableText(page, "Flows");
  assert.deepEqual(heads, ["Flow", "Controller", "IP", "p50", "p99", "p99", "p50", "p99", "lost", "number", "frozen (s)", "met (%)", "completed", "p50", "p95", "CE (%)", "dropped"]);
  assert.deepEqual(rows.map((row) => [row[0], ...row.slice(8, 15)]), [
    ["prague-1", "0", "0", "0.00", "99.42", "–", "–", "–"],
    ["cubic-2", "40", "2", "0.75", "12.50", "–", "–", "–"],
    ["prague-3", "–", "–", "–", "–", "37", "250.0", "900.0"],
  ]);
  assert.deepEqual(await drawn(page, ["flow-frames", "frames", "transfers"]), [[true, true, false], [true, true, false], [false, false, true]]);
  assert.deepEqual((await plots(page)).find(({ id }) => id === "flow-frames")?.levels, ["budget 15 ms"]);
  // The two freezes, of a quarter and of half a second, are as wide as they were long.
  const widths = await page.locator("#flow-frames .span").evaluateAll((spans) => spans.map((span) => Number(span.getAttribute("width"))));
  assert.equal(widths.length, 2);
  assert.ok(Math.abs((widths[1] ?? 0) / (widths[0] ?? 1) - 2) < 0.01, `${widths}`);
  assert.match(await page.locator("header").innerText(), /UEs satisfied\s*50\.0\s*%/);
  await page.screenshot({ path: shot("video"), fullPage: true });
  assert.deepEqual(complaints, []);
  await close();
});

test("senders: pacing rate, encoder's rate and alpha are drawn for those that have them, and for no other", async () => {
  const data = senders();
  const { page, complaints, close } = await open(browser, write("sample-senders.html", data));
  assert.deepEqual(await drawn(page, ["flow-pacing", "flow-target", "flow-alpha"]), [[true, false, true], [false, false, true], [true, false, true]]);
  await page.locator("#time .plot").first().focus();
  for (let i = 0; i < 12; i++) await page.keyboard.press("ArrowRight");
  const values = (await readouts(page, "#controllers")).slice(1).map((one) => one.values.map((value) => (value === "–" ? null : Number(value))));
  const { pacing_mbps, target_mbps, alpha } = data.series.flows;
  [pacing_mbps, target_mbps, alpha].forEach((rows, i) =>
    rows.forEach((row, line) => {
      const [shown, run] = [values[i]?.[line], row[11]];
      if (run == null) assert.equal(shown, null);
      else assert.ok(Math.abs((shown ?? Number.NaN) - run) <= 0.006 * run, `${i}: ${shown} for ${run}`);
    }),
  );
  await page.screenshot({ path: shot("senders"), fullPage: true });
  assert.deepEqual(complaints, []);
  await close();
});

test("only a wire: routers stand beside the flows, and nothing is said of a radio", async () => {
  const data = routed();
  const flows = data.flows.map((flow) => ({ ...flow, ue: undefined, queue_ms: null, split_ms: { ...flow.split_ms, queuing: 0, scheduling: 0, harq: 0, rlc: 0, reordering: 0 } }));
  const { page, complaints, close } = await open(browser, write("sample-wire.html", { ...data, flows, cdfs: data.cdfs.map((cdfs) => ({ ...cdfs, queue_cdf: [] })), ues: [], bearers: [] }));
  assert.deepEqual((await plots(page)).map(({ id }) => id), ["flow-rate", "flow-rtt", "flow-marks", "router-rate", "router-queue", "router-marks", "flow-window", "owd"]);
  assert.equal((await tableText(page, "Routers")).rows.length, 2);
  assert.equal(await page.getByText(/Downlink|RLC|gNB/).count(), 0);
  await page.screenshot({ path: shot("wire"), fullPage: true });
  assert.deepEqual(complaints, []);
  await close();
});

test("events of a live cell stand in every plot over time", async () => {
  const run = sample(3);
  const events = [{ t_s: 6, event: "set", detail: "marker.law=none" }, { t_s: 12, event: "outage", ue: "ue-1", detail: "500 ms" }];
  const { page, close } = await open(browser, write("events.html", { ...run, events }));
  const labels = await page.locator("#time .panel").evaluateAll((panels) => panels.map((panel) => [...panel.querySelectorAll(".happening text")].map((text) => text.textContent)));
  assert.deepEqual(labels, Array(5).fill(["set marker.law=none", "outage ue-1 500 ms"]));
  await page.screenshot({ path: shot("events") });
  await close();
});

test("the map of a network follows its slider, colours UEs, and names those that are picked with their way and handovers", async () => {
  const data = network(21);
  const { page, complaints, close } = await open(browser, write("map.html", data));
  const map = page.locator("#map");
  assert.equal(await map.locator(".sites path").count(), 21);
  // UEs 2 and 3 changed cells once and twice.
  assert.equal(await map.locator(".track").count(), 3);
  assert.equal(await map.locator(".handover").count(), 3);
  const place = async () => (await map.locator(".named").first().getAttribute("transform")) ?? "";
  const before = await place();
  await map.locator("input[type=range]").fill("50");
  assert.match((await map.locator("h3").textContent()) ?? "", /5\.10 s/);
  assert.notEqual(await place(), before, "the first UE moved");
  assert.equal((await readouts(page))[0]?.place, "5.10 s", "the plots follow");
  for (const by of ["SINR", "cell"]) {
    await map.getByText(by, { exact: true }).first().click();
    const counts = (await map.locator(".entries small").allTextContents()).map(Number);
    assert.equal(counts.reduce((sum, count) => sum + count, 0), data.ues.length, by);
  }
  assert.deepEqual(await map.locator(".entries li").allTextContents(), ["1A 1", "1B 1", "1C 1"]);
  await page.locator("#time").getByRole("button", { name: "ue-3", exact: true }).click();
  assert.equal(await map.locator(".track").count(), 2);
  assert.deepEqual(await faults(page), []);
  await map.screenshot({ path: shot("map") });
  assert.deepEqual(complaints, []);
  await close();
});

test("of a network the cell in motion is the fullest, or the chosen one with the UEs that it serves then", async () => {
  const data = network(9);
  const { page, complaints, close } = await open(browser, write("motion-network.html", data));
  const motion = page.locator("#motion");
  const said = async () => (await motion.getByRole("img").getAttribute("aria-label")) ?? "";
  const fullest = data.cells.reduce((most, cell) => (cell.utilisation > most.utilisation ? cell : most));
  assert.ok((await said()).startsWith(`${fullest.name} at `), await said());
  await motion.getByRole("combobox", { name: "Cell" }).selectOption(data.cells[4]?.name ?? "");
  for (const [at, ues] of /** @type {const} */ ([[50, []], [150, ["ue-2"]]])) {
    await motion.getByRole("slider", { name: "Time" }).fill(String(at));
    assert.deepEqual((await said()).match(/ue-\d/g) ?? [], ues, await said());
  }
  assert.deepEqual(await faults(page), []);
  await motion.screenshot({ path: shot("motion-network") });
  assert.deepEqual(complaints, []);
  await close();
});

for (const [colorScheme, width] of /** @type {const} */ ([["light", 1440], ["dark", 390]])) {
  test(`a cell in motion, ${colorScheme}, ${width} px: it shows the run's numbers, plays when asked, and stops at the end`, async () => {
    const data = sample(3);
    const url = write("motion.html", data);
    const { page, complaints, close } = await open(browser, url, { colorScheme, width });
    const motion = page.locator("#motion");
    const state = async () => (await motion.getByRole("img").getAttribute("aria-label")) ?? "";
    const at = 77;
    await motion.getByRole("slider", { name: "Time" }).fill(String(at));
    const { prb_share, queued, ce } = data.series.ues;
    const lanes = [0, 1, 2].map((ue) => `ue-${ue + 1}: ${(100 * (prb_share[ue]?.[at] ?? 0)).toFixed(1)} % of the resource blocks, packets queued: ${queued[ue]?.[at]}`);
    for (const lane of lanes) assert.ok((await state()).replaceAll("\u2009", "").includes(lane), `${await state()}: ${lane}`);
    assert.equal((await readouts(page))[0]?.place, `${(data.series.t_s[at] ?? 0).toFixed(2)} s`, "the plots follow");
    const counts = await motion.locator(".blocks path, .lane path").evaluateAll((paths) => paths.map((path) => (path.getAttribute("d") ?? "").split("M").length - 1));
    assert.equal(counts.slice(0, 5).reduce((sum, count) => sum + count), 200, "the grid is whole");
    assert.ok((ce[0]?.[at] ?? 0) > 0);
    assert.deepEqual(await faults(page), []);
    assert.deepEqual((await legibility(page)).filter(({ contrast }) => contrast < 4.5), [], "WCAG 1.4.3");
    await motion.screenshot({ path: shot(`motion-${colorScheme}-${width}`) });

    // Frames are asked for while it plays, and never else.
    await page.evaluate(() => {
      const request = requestAnimationFrame;
      const counter = { frames: 0 };
      Object.assign(window, { counter, requestAnimationFrame: (/** @type {FrameRequestCallback} */ step) => ((counter.frames += 1), request(step)) });
    });
    const frames = () => page.evaluate(() => /** @type {any} */ (window).counter.frames);
    await page.waitForTimeout(200);
    assert.equal(await frames(), 0);
    await motion.getByRole("button", { name: "Play" }).focus();
    await page.keyboard.press("Space");
    const before = await state();
    await page.waitForFunction((before) => document.querySelector("#motion [role=img]")?.getAttribute("aria-label") !== before, before);
    await page.waitForFunction(() => (document.querySelector("#motion .marks[d^=M]")?.getAttribute("d") ?? "") !== "", undefined, { timeout: 20_000 });
    await motion.getByRole("button", { name: "Pause" }).click();
    await page.waitForTimeout(100);
    const still = [await frames(), await state()];
    await page.waitForTimeout(200);
    assert.deepEqual([await frames(), await state()], still, "it stands still");

    await page.goto(`${url}#from=18&to=20`);
    await motion.getByText("10", { exact: true }).click();
    await motion.getByRole("button", { name: "Play" }).click();
    await motion.getByRole("button", { name: "Play" }).waitFor({ timeout: 20_000 });
    assert.match(await state(), /^The cell at 20\.00 s/);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.reload();
    assert.deepEqual([await motion.getByRole("button", { name: "Play" }).count(), await motion.getByRole("slider", { name: "Time" }).count()], [0, 1]);
    assert.deepEqual(complaints, []);
    await close();
  });
}
