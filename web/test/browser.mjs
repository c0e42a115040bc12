/** The built page in a browser without a network, as a reader has it: `npm run build && npm run test:browser`. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { embed, network, routed, sample, senders, uploads, video } from "../sample/sample.js";
import { findChromium, ink, launch, legibility, open, readouts, settle, tableText } from "./page.mjs";

const dist = new URL("../dist/", import.meta.url);
const shots = new URL("screenshots/", dist);
const built = new URL("report.html", dist);

const chromium = findChromium();
if (!chromium) {
  console.log("*** SKIPPED: the browser test found no Chromium. Nothing of the page was tested in a browser.");
  console.log("*** Install one, or name one: CHROMIUM=/path/to/chromium npm run test:browser");
  process.exit(0);
}
if (!existsSync(built)) {
  console.error("dist/report.html is missing: npm run build");
  process.exit(1);
}
mkdirSync(shots, { recursive: true });

/** @param {string} name @param {unknown} data */
function write(name, data) {
  const file = new URL(name, dist);
  writeFileSync(file, embed(readFileSync(built, "utf8"), data));
  return pathToFileURL(file.pathname).href;
}

const browser = await launch(chromium);
after(() => browser.close());

/** @param {string} name */
const shot = (name) => new URL(`${name}.png`, shots).pathname;
/** @param {number | null | undefined} value @param {number} decimals */
const written = (value, decimals) => (value == null ? "–" : value.toFixed(decimals));
/** Width of Letter paper across, less its margins, in CSS pixels. */
const LETTER = 965;
const PLOTS = ["Throughput", "Round-trip time", "CE marks", "Congestion window", "Throughput", "RLC queue delay", "MCS", "One-way delay", "RLC queue delay"];

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  test(`a network, ${colorScheme}: its cells are drawn and in a table, and so are the bearers of a UE that has several`, async () => {
    const data = network(21);
    const { page, complaints, close } = await open(browser, write("sample-network.html", data), { colorScheme });
    const plots = (await ink(page)).filter((_, index) => index >= 8 && index < 12);
    assert.deepEqual(plots.map((plot) => plot.title), ["Load", "Throughput", "UEs", "Handovers"]);
    for (const { title, drawn, lines } of plots) {
      assert.ok(drawn > 2000, `${title} has ink`);
      assert.ok(lines.length >= 2, `${title}: all cells, and the busiest`);
      for (const { name, pixels } of lines) assert.ok(pixels > 20, `${title}: ${pixels} pixels for ${name}`);
    }
    const cells = await tableText(page, "Cells");
    assert.deepEqual(
      cells.rows,
      data.cells.map((cell) => [cell.name, written(cell.throughput_mbps, 2), written(100 * cell.utilisation, 1), written(cell.ues, 1), String(cell.handovers), written(cell.satisfied && 100 * cell.satisfied, 1)]),
    );
    const bearers = await tableText(page, "Bearers");
    const spread = ["3.8", "3.0", "8.0", "8.0", "8.0"];
    assert.deepEqual(bearers.rows, [
      ["ue-1", "1", "downlink", "1", "9", "l4span", "4.50", ...spread, "12", "3", "300", "98.77"],
      ["ue-1", "1", "uplink", "1", "9", "l4span", "0.25", ...spread, "0", "0", "300", "50.00"],
      ["ue-1", "2", "downlink", "2 3", "80 7", "ramp", "4.50", ...spread, "12", "0", "10", "100.00"],
    ]);
    const ues = await tableText(page, "UEs");
    assert.deepEqual(ues.heads.slice(-7), ["number", "mean (Mbit/s)", "cell", "east (m)", "north (m)", "Handovers", "Mean SINR (dB)"]);
    assert.deepEqual(ues.rows.map((row) => row.slice(-7)), [
      ["450", "11.25", "1b", "0", "60", "0", "14.5"],
      ["–", "–", "2b", "121", "\u221220", "1", "8.5"],
      ["–", "–", "3b", "241", "\u2212100", "2", "2.5"],
    ]);
    const recommended = (await ink(page))[7];
    assert.equal(recommended?.title, "Recommended rate");
    assert.ok((recommended?.lines[0]?.pixels ?? 0) > 20 && recommended?.lines[1]?.pixels === 0, "a line for the UE that was recommended something");
    const faint = (await legibility(page)).filter(({ contrast }) => contrast < 4.5);
    assert.deepEqual(faint, [], "WCAG 1.4.3");
    await page.screenshot({ path: shot(`network-${colorScheme}`), fullPage: true });
    assert.deepEqual(complaints, []);
    await close();
  });
}

test("marks near the cursor are listed with their reasons, and stay as the pointer leaves", async () => {
  const run = sample(3);
  const { t_s } = run.series;
  const heading = "flow,packet,sent_s,t_s,verdict,law,rule,mark_odds,drop_odds,draw_kind,draw,estimated_ms,queued_ms,arrived_s,answered_s";
  const rows = t_s.map((t, i) => {
    const at = (/** @type {number} */ later) => (t - 0.05 + later).toFixed(4);
    return `${run.flows[0]?.name},${i},${at(-0.01)},${at(0)},mark,l4span,l4s sojourn,0.5,0.0,random,0.25,9.0,8.0,${at(0.01)},`;
  });
  const marks = [heading, ...rows, ""].join("\n");
  const { page, complaints, close } = await open(browser, write("marks.html", { ...run, marks }));
  await page.locator("#time .plot").first().focus();
  for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowRight");
  const first = page.locator("#marks tbody tr");
  assert.equal(await first.count(), 6);
  const times = await page.locator("#marks tbody td:first-child").allTextContents();
  assert.deepEqual(times, ["1.7500", "1.8500", "1.9500", "2.0500", "2.1500", "2.2500"]);
  assert.match(await first.first().innerText(), /l4span: l4s sojourn\s+0\.500, drawn 0\.250\s+9\.00\s+8\.00\s+20\.0/);
  await page.keyboard.press("Escape");
  assert.equal(await first.count(), 6);
  await page.screenshot({ path: shot("marks"), fullPage: true });
  assert.deepEqual(complaints, []);
  await close();
});

test("uploads: what UEs sent is drawn and in a table, in which one that sent nothing has no figure", async () => {
  const data = uploads();
  const { page, complaints, close } = await open(browser, write("sample-uploads.html", data));
  const plots = (await ink(page)).filter((_, index) => index >= 7 && index < 12);
  assert.deepEqual(plots.map((plot) => plot.title), ["Uplink throughput", "Uplink MCS", "Recommended uplink rate", "Queue delay at the UE", "Reported buffer"]);
  for (const { title, drawn, lines } of plots) {
    assert.ok(drawn > 2000, `${title} has ink`);
    const recommended = title === "Recommended uplink rate";
    for (const { name, pixels } of lines.slice(0, recommended ? 1 : 2)) assert.ok(pixels > 20, `${title}: ${pixels} pixels for ${name}`);
  }
  const { rows } = await tableText(page, "UEs, uplink");
  const same = ["18.6", "17.0", "31.0", "31.0", "31.0", "14.2", "9.3", "47.0", "12034", "1180", "3", "412"];
  assert.deepEqual(rows.map((row) => row.slice(1)), [["4.00", ...same, "440", "5.13"], ["3.00", ...same, "–", "–"], Array(15).fill("–")]);
  assert.equal(await page.getByText("Uplink utilisation").count(), 1);
  await page.screenshot({ path: shot("uploads"), fullPage: true });
  // Where nobody receives anything, uploads take the downlink's place: no table and no plot is empty.
  const only = { ...data, ues: data.ues.map((ue) => ({ ...ue, throughput_mbps: 0, queue_ms: null })) };
  const alone = await open(browser, write("sample-uploads-only.html", only));
  const titles = (await ink(alone.page)).slice(4, 9).map((plot) => plot.title);
  assert.deepEqual(titles, ["Uplink throughput", "Queue delay at the UE", "Uplink MCS", "Reported buffer", "Recommended uplink rate"]);
  assert.equal(await alone.page.getByRole("region", { name: "UEs", exact: true }).count(), 0);
  assert.equal(await alone.page.getByText("Not measured").count(), 0);
  await alone.page.screenshot({ path: shot("uploads-only"), fullPage: true });
  await alone.close();
  assert.deepEqual(complaints, []);
  await close();
});

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  test(`routers, ${colorScheme}: they have a table, plots and a part of each bar, which is as long as the mean one-way delay`, async () => {
    const data = routed();
    const { page, complaints, close } = await open(browser, write("sample-routed.html", data), { colorScheme });
    const plots = (await ink(page)).filter((_, index) => index >= 7 && index < 11);
    assert.deepEqual(plots.map((plot) => plot.title), ["Throughput", "Link rate", "Queue delay", "CE marks"]);
    for (const { title, lines } of plots) {
      assert.deepEqual(lines.map((line) => line.name), ["transit", "peering"]);
      for (const { name, pixels } of lines) assert.ok(pixels > 20, `${title}: ${pixels} pixels for ${name}`);
    }
    const { rows } = await tableText(page, "Routers");
    const spread = ["6.0", "5.0", "13.0", "13.0", "13.0"];
    assert.deepEqual(rows, [
      ["transit", "codel", "14.00", "17.50", "80.0", ...spread, "0", "31"],
      ["peering", "dualpi2", "19.00", "27.50", "69.1", ...spread, "512", "0"],
    ]);
    const bars = await page.locator("#delay .bars .bar").evaluateAll((all) =>
      all.map((bar) => {
        /** @param {string} which */
        const width = (which) => [...bar.querySelectorAll(which)].reduce((sum, part) => sum + part.getBoundingClientRect().width, 0);
        return { number: bar.querySelector(".number")?.textContent ?? "", width: width("[data-part]"), router: width("[data-part=router]") };
      }),
    );
    const longest = Math.max(...data.flows.map((flow) => flow.owd_ms.mean));
    const scale = Math.max(...bars.map((bar) => bar.width)) / longest;
    // A part that is shorter than a pixel has one.
    data.flows.forEach(({ owd_ms, split_ms }, i) => {
      assert.equal(bars[i]?.number, owd_ms.mean.toFixed(1));
      assert.ok(Math.abs((bars[i]?.width ?? 0) - owd_ms.mean * scale) < 2, `bar ${i} is ${bars[i]?.width} px long`);
      assert.ok(Math.abs((bars[i]?.router ?? 0) - split_ms.router * scale) < 1, `its routers' part ${bars[i]?.router} px`);
    });
    const faint = (await legibility(page)).filter(({ contrast }) => contrast < 4.5);
    assert.deepEqual(faint, [], "WCAG 1.4.3");
    await page.screenshot({ path: shot(`routed-${colorScheme}`), fullPage: true });
    assert.deepEqual(complaints, []);
    await close();
  });
}

test("frames: their delays, their freezes and the share within the budget are shown, and pages beside them", async () => {
  const { page, complaints, close } = await open(browser, write("sample-video.html", video()));
  const frames = await tableText(page, "Frames");
  assert.deepEqual(frames.rows.map((row) => [row[0], ...row.slice(3, 5), ...row.slice(10)]), [
    ["prague-1", "1200", "0", "0", "0.00", "15", "99.42", "yes"],
    ["cubic-2", "1200", "40", "2", "0.75", "15", "12.50", "no"],
  ]);
  const pages = await tableText(page, "Transfers and pages");
  assert.deepEqual(pages.rows, [["prague-3", "prague", "l4span", "37", "362.5", "250.0", "900.0", "900.0", "900.0"]]);
  const plots = await ink(page);
  const [delay] = plots.filter(({ title }) => title === "Frame delay, freezes shaded");
  for (const { name, pixels } of (delay?.lines ?? []).slice(0, 2)) assert.ok(pixels > 20, `${pixels} pixels for ${name}`);
  const distributions = plots.filter(({ title }) => ["Frame delay", "Completion time"].includes(title));
  // Two flows have frames, the third has pages.
  const measured = distributions.map(({ title, lines }) => [title, ...lines.map(({ pixels }) => pixels > 20)]);
  assert.deepEqual(measured, [["Frame delay", true, true, false], ["Completion time", false, false, true]]);
  // The second freeze, between 12.4 s and 12.9 s, is shaded from top to bottom; the time before it is not.
  const shaded = await page.locator("figure", { hasText: "freezes shaded" }).locator("canvas").evaluate((canvas) => {
    const { width, height } = /** @type {HTMLCanvasElement} */ (canvas);
    const context = /** @type {CanvasRenderingContext2D} */ (/** @type {HTMLCanvasElement} */ (canvas).getContext("2d"));
    const row = context.getImageData(0, Math.round(height * 0.62), width, 1).data;
    return Array.from({ length: width }, (_, x) => (row[4 * x + 3] ?? 0) > 0 && (row[4 * x] ?? 0) > (row[4 * x + 2] ?? 0) + 20).filter(Boolean).length;
  });
  assert.ok(shaded > 8 && shaded < 60, `${shaded} pixels are shaded`);
  assert.match(await page.locator("header").innerText(), /UEs satisfied\s*50\.0\s*%/);
  await page.screenshot({ path: shot("video"), fullPage: true });
  assert.deepEqual(complaints, []);
  await close();
});

test("senders: pacing rate, encoder's rate and alpha are drawn for those that have them, and for no other", async () => {
  const data = senders();
  const { page, complaints, close } = await open(browser, write("sample-senders.html", data));
  const plots = (await ink(page)).slice(4, 7);
  assert.deepEqual(plots.map((plot) => plot.title), ["Pacing rate", "Rate asked of the encoder", "Share of marks, as estimated"]);
  const drawn = plots.map(({ lines }) => lines.map(({ pixels }) => pixels > 20));
  assert.deepEqual(drawn, [[true, false, true], [false, false, true], [true, false, true]]);
  await page.locator("#time .plot").first().focus();
  for (let i = 0; i < 12; i++) await page.keyboard.press("ArrowRight");
  const values = (await readouts(page)).slice(4, 7).map((one) => one.values.map((value) => (value === "–" ? null : Number(value))));
  const { pacing_mbps, target_mbps, alpha } = data.series.flows;
  [pacing_mbps, target_mbps, alpha].forEach((rows, i) =>
    rows.forEach((row, line) => {
      const [shown, run] = [values[i]?.[line], row[11]];
      if (run == null) assert.equal(shown, null);
      else assert.ok(Math.abs((shown ?? Number.NaN) - run) <= 0.006 * run, `${plots[i]?.title}: ${shown} for ${run}`);
    }),
  );
  await page.screenshot({ path: shot("senders"), fullPage: true });
  assert.deepEqual(complaints, []);
  await close();
});

test("only a wire: routers stand beside the flows, and nothing is said of a radio", async () => {
  const data = routed();
  const flows = data.flows.map((flow) => ({ ...flow, ue: undefined, queue_ms: null, split_ms: { ...flow.split_ms, queuing: 0, scheduling: 0, harq: 0, rlc: 0, reordering: 0 } }));
  const { page, complaints, close } = await open(browser, write("sample-wire.html", { ...data, flows, cdfs: data.cdfs.map((cdfs) => ({ ...cdfs, queue_cdf: [] })), ues: [] }));
  const plots = await ink(page);
  assert.deepEqual(plots.map((plot) => plot.title), ["Throughput", "Round-trip time", "CE marks", "Congestion window", "Throughput", "Link rate", "Queue delay", "CE marks", "One-way delay"]);
  for (const { title, drawn } of plots) assert.ok(drawn > 2000, `${title} has ink`);
  assert.equal((await tableText(page, "Routers")).rows.length, 2);
  assert.equal(await page.getByText(/Not measured|Downlink/).count(), 0);
  await page.screenshot({ path: shot("wire"), fullPage: true });
  assert.deepEqual(complaints, []);
  await close();
});

for (const count of [3, 64]) {
  const data = sample(count);
  const url = write(`sample-${count}.html`, data);

  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    test(`${count} UEs, ${colorScheme}: every plot has ink in the colour of every line, every text can be read`, async () => {
      const { page, complaints, close } = await open(browser, url, { colorScheme });
      const drawn = await page.evaluate(() => performance.now());
      const plots = await ink(page);
      assert.deepEqual(plots.map((plot) => plot.title), PLOTS);
      for (const { title, drawn, lines } of plots) {
        assert.ok(drawn > 2000, `${title} has ink`);
        assert.equal(lines.length, count === 3 ? 3 : 4, `${title}: lines, or three groups and the worst`);
        // Groups that are hardly marked have one median: zero, under the line drawn last.
        const apart = count === 64 && title === "CE marks" ? lines.slice(2) : lines;
        for (const { name, pixels } of apart) assert.ok(pixels > 20, `${title}: ${pixels} pixels for ${name}`);
      }
      const texts = await legibility(page);
      assert.ok(texts.length > 100 * Math.sqrt(count));
      const faint = texts.filter(({ contrast }) => contrast < 4.5);
      assert.deepEqual(faint, [], "WCAG 1.4.3");
      assert.deepEqual(texts.filter(({ size }) => size < 11), [], "no text is tiny");
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(ground, colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(20, 24, 28)");
      await page.screenshot({ path: shot(`${count}-${colorScheme}`), fullPage: true });
      assert.deepEqual(complaints, []);
      assert.ok(drawn < 15_000, `drawn after ${drawn} ms`);
      await close();
    });
  }

  test(`${count} UEs: the tables say what the run found, and sort`, async () => {
    const { page, complaints, close } = await open(browser, url);
    const flows = await tableText(page, "Flows");
    const quantiles = /** @type {const} */ (["mean", "p50", "p95", "p99", "p999"]);
    /** @param {Partial<Record<typeof quantiles[number], number>> | null} of */
    const spread = (of) => quantiles.map((key) => written(of?.[key], 1));
    assert.deepEqual(
      flows.rows,
      data.flows.map((flow) => [
        flow.name, flow.ue, flow.controller, flow.law,
        written(flow.throughput_mbps, 2), written(flow.goodput_mbps, 2),
        ...spread(flow.owd_ms), ...spread(flow.rtt_ms), ...spread(flow.queue_ms),
        String(flow.sent_packets), String(flow.marked), written((100 * flow.marked) / flow.sent_packets, 1), String(flow.dropped), String(flow.retransmissions),
      ]),
    );
    const ues = await tableText(page, "UEs");
    assert.deepEqual(
      ues.rows,
      data.ues.map((ue) => [
        ue.name, ue.channel, written(ue.throughput_mbps, 2), ...spread(ue.queue_ms), written(ue.mcs_mean, 1),
        written(ue.bler === null ? null : 100 * ue.bler, 1), written(100 * ue.prb_share, 1), String(ue.marked), String(ue.dropped),
      ]),
    );
    const marked = page.getByRole("region", { name: "Flows", exact: true }).getByRole("button", { name: "with CE" });
    const names = [...data.flows].sort((a, b) => b.marked - a.marked).map((flow) => flow.name);
    await marked.click();
    const sorted = await tableText(page, "Flows");
    assert.deepEqual(sorted.sorted, ["with CE descending"]);
    assert.deepEqual(sorted.rows.map((row) => Number(row[22])), [...data.flows].map((flow) => flow.marked).sort((a, b) => b - a));
    assert.equal(sorted.rows[0]?.[0], names[0]);
    await marked.press("Enter");
    assert.deepEqual((await tableText(page, "Flows")).sorted, ["with CE ascending"]);
    assert.deepEqual(complaints, []);
    await close();
  });

  test(`${count} UEs: the cursor shows the run's numbers in every plot; keys and mouse move it and zoom`, async () => {
    const { page, complaints, close } = await open(browser, url);
    const times = data.series.t_s;
    const plot = page.locator("#time .plot").first();
    const place = async () => {
      const all = await readouts(page);
      assert.equal(new Set(all.map((one) => one.place)).size, 1, "one cursor for all plots");
      return Number.parseFloat(all[0]?.place ?? "");
    };

    await plot.focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
    assert.equal(await place(), times[2]);
    await page.keyboard.press("PageDown");
    assert.equal(await place(), times[12]);
    await page.keyboard.press("ArrowLeft");
    assert.equal(await place(), times[11]);
    if (count === 3) {
      const values = (await readouts(page)).map((one) => one.values.map((value) => (value === "–" ? null : Number(value))));
      const { flows, ues } = data.series;
      const rows = [flows.throughput_mbps, flows.rtt_ms, flows.marks, flows.cwnd_kb, ues.throughput_mbps, ues.queue_ms, ues.mcs];
      rows.forEach((row, i) => {
        row.forEach((series, line) => {
          const [shown, run] = [values[i]?.[line], series[11]];
          if (run == null) assert.equal(shown, null);
          else assert.ok(Math.abs((shown ?? Number.NaN) - run) <= 0.006 * Math.abs(run), `${PLOTS[i]}: ${shown} for ${run}`);
        });
      });
    }

    // Zoomed in, one step of the arrow is a larger part of the plot's width.
    const left = () => page.locator("#time .u-cursor-x").first().evaluate((line) => new DOMMatrix(getComputedStyle(line).transform).e);
    const step = async () => {
      const before = await left();
      await page.keyboard.press("ArrowRight");
      const after = await left();
      await page.keyboard.press("ArrowLeft");
      return after - before;
    };
    const wide = await step();
    await page.keyboard.press("+");
    const at = await place();
    assert.equal(at, times[11], "zooming keeps the cursor");
    const near = await step();
    assert.ok(near > 1.5 * wide && near < 2.5 * wide, `${near} px a step after ${wide} px`);
    await page.keyboard.press("-");
    await settle(page);
    assert.ok(Math.abs((await step()) - wide) <= 1.5, "back to everything");
    await page.keyboard.press("Escape");
    assert.ok(Number.isNaN(await place()), "Escape puts the cursor away");

    // The mouse: where the pointer is tells what the axis shows.
    const over = page.locator("#time .u-over").first();
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    assert.ok(box);
    /** @param {number} part */
    const hover = async (part) => {
      await page.mouse.move(box.x + part * box.width, box.y + box.height / 3);
      await settle(page);
      return place();
    };
    assert.ok(Math.abs((await hover(0.5)) - 10) <= 0.11);
    await hover(0.25);
    await page.mouse.down();
    await hover(0.4);
    await hover(0.5);
    await page.mouse.up();
    await settle(page);
    assert.ok(Math.abs((await hover(0.02)) - 5.1) <= 0.16, "a drag from a quarter to the half shows 5 s to 10 s");
    assert.ok(Math.abs((await hover(0.98)) - 9.9) <= 0.16);
    await page.screenshot({ path: shot(`${count}-zoomed`) });
    await page.mouse.dblclick(box.x + box.width / 2, box.y + box.height / 3);
    await settle(page);
    assert.ok((await hover(0.98)) > 19, "a double-click shows everything");
    assert.deepEqual(complaints, []);
    await close();
  });

  test(`${count} UEs: fits narrow windows`, async () => {
    const { page, complaints, close } = await open(browser, url, { width: 360, height: 740 });
    for (const width of [320, 360, 600, 1024, 1440]) {
      await page.setViewportSize({ width, height: 740 });
      await settle(page);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(over, 0, `${over} px too wide in a window of ${width}`);
      const plots = await page.locator(".plot").evaluateAll((all) => all.map((plot) => (plot.querySelector("canvas")?.getBoundingClientRect().width ?? 0) - plot.clientWidth));
      assert.ok(plots.every((more) => Math.abs(more) <= 1), `plots fill their place: ${plots}`);
      if (width === 360) await page.screenshot({ path: shot(`${count}-narrow`), fullPage: true });
    }
    assert.deepEqual(complaints, []);
    await close();
  });

  test(`${count} UEs: prints on white paper, whole, without controls`, async () => {
    const { page, complaints, close } = await open(browser, url, { colorScheme: "dark" });
    await page.evaluate(() => {
      addEventListener("beforeprint", () => {
        document.body.dataset.printed = document.documentElement.style.getPropertyValue("--ground");
        document.body.dataset.width = String(document.querySelector("canvas")?.clientWidth);
      });
    });
    const pdf = await page.pdf({ path: new URL(`${count}.pdf`, shots).pathname, format: "Letter" });
    assert.equal(await page.evaluate(() => document.body.dataset.printed), "#ffffff");
    assert.equal(await page.evaluate(() => document.body.dataset.width), "460");
    const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
    assert.ok(count === 3 ? pages >= 2 && pages <= 5 : pages >= 4 && pages <= 10, `${pages} pages`);
    assert.equal(await page.evaluate(() => document.documentElement.style.getPropertyValue("--ground")), "#14181c", "dark again on the screen");

    await page.setViewportSize({ width: LETTER, height: 700 });
    await page.emulateMedia({ media: "print", colorScheme: "light" });
    await settle(page);
    assert.equal(await page.locator(".choices:visible, input:visible").count(), 0);
    const cut = await page.locator(".table, .bars").evaluateAll((all) => all.filter((box) => box.scrollHeight > box.clientHeight + 2 || box.scrollWidth > box.clientWidth + 2).map((box) => `${box.className} ${box.scrollWidth} in ${box.clientWidth}`));
    assert.deepEqual(cut, [], "nothing is cut off");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), LETTER);
    assert.ok(await page.locator("pre").evaluate((pre) => pre.clientHeight > 20), "the scenario is printed too");
    await page.screenshot({ path: shot(`${count}-print`), fullPage: true });
    assert.deepEqual(complaints, []);
    await close();
  });
}

test("the keyboard reaches everything and stays nowhere", async () => {
  const { page, close } = await open(browser, new URL("sample-3.html", dist).href);
  /** @type {string[]} */
  const reached = [];
  for (let i = 0; i < 200; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return null;
      // A radio button is drawn by the text beside it.
      const shown = element.matches(".choices input") ? /** @type {Element} */ (element.nextElementSibling) : element;
      const ring = getComputedStyle(shown).outlineStyle !== "none";
      return `${ring ? "" : "NO RING "}${element.tagName} ${element.className} ${element.textContent}`;
    });
    if (at === null) break;
    reached.push(at);
  }
  assert.deepEqual(reached.filter((at) => at.startsWith("NO RING")), []);
  const controls = await page.locator("button:visible, input[type=checkbox], .plot, summary, fieldset").count();
  assert.ok(reached.length >= controls && reached.length < 200, `${reached.length} of ${controls}`);
  assert.equal(reached.filter((at) => at.includes("plot")).length, PLOTS.length);
  await close();
});

test("a few: boxes and legend switch lines, and the colours stay", async () => {
  const { page, complaints, close } = await open(browser, new URL("sample-3.html", dist).href);
  const colour = async () => (await ink(page)).map((plot) => plot.lines.map((line) => line.name).join(" "));
  const box = page.getByRole("checkbox", { name: "cubic-2" });
  await box.focus();
  await page.keyboard.press("Space");
  await settle(page);
  assert.equal((await colour())[0], "prague-1 prague-3");
  assert.equal(await page.locator("#time .column").first().getByRole("button", { name: "cubic-2" }).getAttribute("aria-pressed"), "false");
  await page.locator("#delay").getByRole("button", { name: "cubic-2" }).click();
  await settle(page);
  assert.equal((await colour())[0], "prague-1 cubic-2 prague-3");
  assert.equal(await box.isChecked(), true);
  await page.locator("label", { hasText: "tail" }).click();
  await page.locator("label", { hasText: "logarithmic" }).click();
  await settle(page);
  for (const { title, lines } of await ink(page)) for (const { name, pixels } of lines) assert.ok(pixels > 20, `${title}, logarithmic: ${name}`);
  assert.match((await page.locator("#delay .plot").first().getAttribute("aria-label")) ?? "", /share of packets above/);
  await page.screenshot({ path: shot("3-logarithmic"), fullPage: true });
  assert.deepEqual(complaints, []);
  await close();
});

test("many: lines are added by name and by pointing, groups change", async () => {
  const { page, complaints, close } = await open(browser, new URL("sample-64.html", dist).href);
  const column = page.locator("#time .column").first();
  const entries = async () => (await column.locator(".entries li").allTextContents()).map((text) => text.trim());
  const before = await entries();
  assert.deepEqual(before.slice(0, 3).map((text) => text.replace(/ median.*/, "")), ["bbr (21)", "cubic (21)", "prague (22)"]);
  await column.getByRole("combobox").fill("flow-33");
  await settle(page);
  assert.equal((await entries()).at(-1), "flow-33×");
  assert.equal(await page.getByRole("checkbox", { name: "flow-33", exact: true }).isChecked(), true);
  await column.locator("label", { hasText: "none" }).click();
  await settle(page);
  assert.match((await entries())[0] ?? "", /^all 64 flows/);
  for (const { title, lines } of (await ink(page)).slice(0, 4)) for (const { name, pixels } of lines) assert.ok(pixels > 20, `${title}: ${pixels} pixels for ${name}`);

  const over = column.locator(".u-over").nth(1);
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.55);
  await settle(page);
  const pointed = await column.locator(".readout strong").first().textContent();
  const name = /^(flow-\d+) /.exec(pointed ?? "")?.[1] ?? "";
  assert.notEqual(name, "", `what is pointed at is named: ${pointed}`);
  await page.screenshot({ path: shot("64-pointed") });
  await page.mouse.click(box.x + box.width / 2, box.y + box.height * 0.55);
  await settle(page);
  assert.ok((await entries()).includes(`${name}×`), `${name} is kept`);
  assert.deepEqual(complaints, []);
  await close();
});

test("the theme follows the system until it is chosen, and the choice is kept", async () => {
  const { page, complaints, close } = await open(browser, new URL("sample-3.html", dist).href);
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "dark" });
  await settle(page);
  assert.equal(await ground(), "rgb(20, 24, 28)");
  assert.ok((await ink(page))[0]?.lines.every((line) => line.pixels > 20), "the plots follow");
  await page.getByText("light", { exact: true }).click();
  await settle(page);
  assert.equal(await ground(), "rgb(255, 255, 255)");
  await page.reload();
  assert.equal(await ground(), "rgb(255, 255, 255)");
  assert.deepEqual(complaints, []);
  await close();
});

test("a scenario's text is text", async () => {
  const nasty = sample(1);
  const name = '<img src="https://example.invalid/x.png" onerror="document.title=1">';
  const flow = { ...nasty.flows[0], name, ue: name };
  const none = { packets_out: 0, refused: 0, unroutable: 0, overload: 0, not_admitted: null, device_drops: 0, uplink_busy_s: 0 };
  const live = { lateness_us: null, busy: 0.5, real_time_priority: false, packets_in: 1234, ...none };
  const url = write("nasty.html", { ...nasty, name, flows: [flow], live, interrupted_at_s: 7.5 });
  const { page, complaints, close } = await open(browser, url);
  assert.equal(await page.locator("h1").textContent(), name);
  assert.equal(await page.locator("main img, main script, main b").count(), 0);
  await page.locator("summary").press("Enter");
  assert.match((await page.locator("pre").textContent()) ?? "", /<\/script><b>not markup<\/b>/);
  assert.match((await page.locator("header").textContent()) ?? "", /7\.5\u00a0s of 20\u00a0s, interrupted/);
  assert.match((await page.locator("#live").textContent()) ?? "", /Thread busy50\.0\u00a0%.*Packets in1\u2009234/);
  await page.screenshot({ path: shot("nasty") });
  assert.deepEqual(complaints, []);
  await close();
});

test("the page's policy lets nothing out, even if its own script asked", async () => {
  const { page, close } = await open(browser, new URL("sample-3.html", dist).href);
  const broken = await page.evaluate(
    () =>
      new Promise((done) => {
        document.addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective));
        fetch("https://example.invalid/").catch(() => setTimeout(() => done("no policy stood against it"), 500));
      }),
  );
  assert.equal(broken, "connect-src");
  await close();
});

test("the page is one file that carries its parts' licence", () => {
  const html = readFileSync(built, "utf8");
  assert.doesNotMatch(html, /<(script|link|img)[^>]+(src|href)="(?!data:)/);
  assert.match(html, /uPlot:\s+The MIT License \(MIT\)\s+Copyright \(c\) \d+ Leon Sorokin/);
  assert.ok(html.length < 150_000, `${html.length} characters`);
});

test("a page without a run says what to do", async () => {
  const { page, complaints, close } = await open(browser, built.href);
  assert.match((await page.getByRole("alert").textContent()) ?? "", /holds no run.*tidemark run FILE/);
  assert.deepEqual(complaints, []);
  await close();
});

test("a run that the page cannot read is refused where its reader looks", async () => {
  const { page, complaints, close } = await open(browser, write("another-version.html", { ...sample(1), tidemark: "0.0.9" }));
  assert.match((await page.getByRole("alert").textContent()) ?? "", /is of Tidemark 0\.0\.9.*write the report again/);
  assert.equal(await page.locator("table").count(), 0);
  assert.deepEqual(complaints, []);
  await close();
});
