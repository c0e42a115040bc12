/** The built page in a browser without a network, as a reader has it: `npm run build && npm run test:browser`. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { sample } from "../../sample/sample.js";
import { built, faults, findChromium, launch, legibility, open, plots, readouts, settle, shot, tableText, write } from "./page.mjs";

const page0 = built();
const browser = await launch(/** @type {string} */ (findChromium()));
after(() => browser.close());

/** @param {number | null | undefined} value @param {number} decimals */
const written = (value, decimals) => (value == null ? "–" : value.toFixed(decimals));
/** Width of Letter paper across, less its margins, in CSS pixels. */
const LETTER = 965;
const PLOTS = ["Throughput", "Round-trip time", "CE marks", "RLC queue delay", "MCS", "Congestion window", "One-way delay", "RLC queue delay"];
/** Elements of a page, whatever the number of UEs. */
const MOST_ELEMENTS = 2_200;

const url3 = write("sample-3.html", sample(3));
const url64 = write("sample-64.html", sample(64));

test("a page without words for its picture, and with a faint text, has two faults", async () => {
  const page = await browser.newPage();
  await page.setContent('<html lang="en"><title>t</title><main><h1>t</h1><img src="data:,"><p style="color: #ddd">faint</p></main></html>');
  assert.deepEqual((await faults(page)).map((fault) => fault.split(":")[0]).sort(), ["color-contrast", "image-alt"]);
  await page.close();
});

for (const count of [3, 64]) {
  const data = sample(count);
  const url = count === 3 ? url3 : url64;

  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    for (const width of [1440, 390]) {
      // Half of the combinations have each pair of number, colours and width.
      if ((count === 3) !== ((colorScheme === "light") === (width === 1440))) continue;
      test(`${count} UEs, ${colorScheme}, ${width} px: every plot has every line, every text can be read, and axe finds nothing`, async () => {
        const { page, complaints, close } = await open(browser, url, { colorScheme, width });
        const all = await plots(page);
        assert.deepEqual(all.map(({ title }) => title), PLOTS);
        for (const { title, lines } of all) {
          assert.equal(lines.length, count === 3 ? 3 : 4, `${title}: lines, or three groups and the worst`);
          for (const { colour, length } of lines) assert.ok(length > 100, `${title}: line ${colour} is ${length} px long`);
        }
        assert.deepEqual(all.find(({ id }) => id === "ue-queue")?.levels, ["tau_s 10 ms", "tau_classic 25 ms"]);
        const texts = await legibility(page);
        assert.ok(texts.length > 100);
        assert.deepEqual(texts.filter(({ contrast }) => contrast < 4.5), [], "WCAG 1.4.3");
        assert.deepEqual(texts.filter(({ size }) => size < 11), [], "no text is tiny");
        assert.deepEqual(await faults(page), []);
        const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        assert.equal(ground, colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(20, 24, 28)");
        const elements = await page.evaluate(() => document.querySelectorAll("*").length);
        assert.ok(elements < MOST_ELEMENTS, `${elements} elements`);
        await page.screenshot({ path: shot(`${count}-${colorScheme}-${width}`), fullPage: true });
        assert.deepEqual(complaints, []);
        await close();
      });
    }
  }

  test(`${count} UEs: the tables say what the run found, and sort`, async () => {
    const { page, complaints, close } = await open(browser, url);
    const first = await tableText(page, "Flows");
    assert.deepEqual(first.heads, ["Flow", "Controller", "IP", "p50", "p99", "p99", "CE (%)", "dropped"]);
    assert.equal(first.rows.length, Math.min(count, 12));
    for (const button of await page.locator(".tabled > button").all()) await button.click();
    const flows = await tableText(page, "Flows");
    // Of many the worst come first.
    /** @template T @param {T[]} of @param {(one: T) => number} tail */
    const inOrder = (of, tail) => (count > 12 ? [...of].sort((a, b) => tail(b) - tail(a)) : of);
    const quantiles = /** @type {const} */ (["mean", "p50", "p95", "p99", "p999"]);
    /** @param {Partial<Record<typeof quantiles[number], number>> | null} of */
    const spread = (of) => quantiles.map((key) => written(of?.[key], 1));
    assert.deepEqual(
      flows.rows,
      inOrder(data.flows, ({ owd_ms }) => owd_ms.p99).map((flow) => [
        flow.name, flow.ue, flow.controller, flow.law,
        written(flow.throughput_mbps, 2), written(flow.goodput_mbps, 2),
        ...spread(flow.owd_ms), ...spread(flow.rtt_ms), ...spread(flow.queue_ms),
        String(flow.sent_packets), String(flow.marked), written((100 * flow.marked) / flow.sent_packets, 1), String(flow.dropped), String(flow.retransmissions),
      ]),
    );
    const ues = await tableText(page, "UEs");
    assert.deepEqual(
      ues.rows,
      inOrder(data.ues, ({ queue_ms }) => queue_ms.p99).map((ue) => [
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
    // What was not measured comes last, whichever way.
    const rtt = page.getByRole("region", { name: "Flows", exact: true }).getByRole("button", { name: "p50" }).nth(1);
    for (let way = 0; way < 2 && count === 3; way++) {
      await rtt.click();
      assert.equal((await tableText(page, "Flows")).rows.at(-1)?.[0], "prague-3");
    }
    // Rows are alike: axe takes 15 s for those of 64 UEs.
    if (count === 3) assert.deepEqual(await faults(page), [], "with all columns");
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
      const rows = [flows.throughput_mbps, flows.rtt_ms, flows.marks, ues.queue_ms, ues.mcs];
      rows.forEach((row, i) => {
        row.forEach((series, line) => {
          const [shown, run] = [values[i]?.[line], series[11]];
          if (run == null) assert.equal(shown, null);
          else assert.ok(Math.abs((shown ?? Number.NaN) - run) <= 0.006 * Math.abs(run), `${PLOTS[i]}: ${shown} for ${run}`);
        });
      });
      assert.match((await plot.getAttribute("aria-valuetext")) ?? "", /^1\.20 s, prague-1 [\d.]+, cubic-2 [\d.]+, prague-3/);
    }

    // Zoomed in, one step of the arrow is a larger part of the plot's width.
    const left = () => page.locator("#time .cursor").first().evaluate((line) => Number(line.getAttribute("x1")));
    const step = async () => {
      const before = await left();
      await page.keyboard.press("ArrowRight");
      const after = await left();
      await page.keyboard.press("ArrowLeft");
      return after - before;
    };
    const wide = await step();
    await page.keyboard.press("+");
    assert.equal(await place(), times[11], "zooming keeps the cursor");
    const near = await step();
    assert.ok(near > 1.5 * wide && near < 2.5 * wide, `${near} px a step after ${wide} px`);
    await page.keyboard.press("-");
    await settle(page);
    assert.ok(Math.abs((await step()) - wide) <= 1.5, "back to everything");
    await page.keyboard.press("Escape");
    assert.ok(Number.isNaN(await place()), "Escape puts the cursor away");

    // The mouse: where the pointer is tells what the axis shows.
    const over = page.locator("#time .overlay").first();
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
    // Printing passes through widths in which no plot has room.
    await page.setViewportSize({ width: 60, height: 740 });
    await settle(page);
    for (const width of [320, 360, 600, 1024, 1440]) {
      await page.setViewportSize({ width, height: 740 });
      await settle(page);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(over, 0, `${over} px too wide in a window of ${width}`);
      const unfilled = await page.locator(".plot").evaluateAll((all) => all.map((plot) => (plot.querySelector("svg")?.getBoundingClientRect().width ?? 0) - plot.clientWidth));
      assert.ok(unfilled.every((more) => Math.abs(more) <= 1), `plots fill their place: ${unfilled}`);
    }
    assert.deepEqual(complaints, []);
    await close();
  });

  test(`${count} UEs: prints on white paper, whole, without controls`, async () => {
    const { page, complaints, close } = await open(browser, url, { colorScheme: "dark" });
    await page.evaluate(() => addEventListener("beforeprint", () => (document.body.dataset.printed = document.documentElement.style.getPropertyValue("--ground"))));
    const pdf = await page.pdf({ path: shot(`${count}`).replace(".png", ".pdf"), format: "Letter" });
    assert.equal(await page.evaluate(() => document.body.dataset.printed), "#ffffff");
    const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
    assert.ok(pages >= 2 && pages <= 6, `${pages} pages`);
    assert.equal(await page.evaluate(() => document.documentElement.style.getPropertyValue("--ground")), "#14181c", "dark again on the screen");

    await page.setViewportSize({ width: LETTER, height: 700 });
    await page.emulateMedia({ media: "print", colorScheme: "light" });
    await settle(page);
    assert.equal(await page.locator(".choices:visible, input:visible, .take:visible").count(), 0);
    const cut = await page.locator(".table").evaluateAll((all) => all.filter((box) => box.scrollHeight > box.clientHeight + 2 || box.scrollWidth > box.clientWidth + 2).map((box) => `${box.className} ${box.scrollWidth} in ${box.clientWidth}`));
    assert.deepEqual(cut, [], "nothing is cut off");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), LETTER);
    assert.ok(await page.locator("pre").evaluate((pre) => pre.clientHeight > 20), "the scenario is printed too");
    await page.screenshot({ path: shot(`${count}-print`), fullPage: true });
    assert.deepEqual(complaints, []);
    await close();
  });
}

test("the keyboard reaches everything and stays nowhere", async () => {
  const { page, close } = await open(browser, url3);
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
      return `${ring ? "" : "NO RING "}${element.tagName} ${element.getAttribute("class")} ${element.textContent}`;
    });
    if (at === null) break;
    reached.push(at);
  }
  assert.deepEqual(reached.filter((at) => at.startsWith("NO RING")), []);
  const controls = await page.locator("a[href]:visible, button:visible, input[type=checkbox], .plot, summary, fieldset").count();
  assert.ok(reached.length >= controls && reached.length < 200, `${reached.length} of ${controls}`);
  assert.equal(reached.filter((at) => at.startsWith("DIV plot")).length, PLOTS.length);
  await close();
});

test("a few: boxes and legend switch lines, and the colours stay", async () => {
  const { page, complaints, close } = await open(browser, url3);
  const colours = async () => (await plots(page))[0]?.lines.map(({ colour }) => colour);
  const box = page.getByRole("checkbox", { name: "cubic-2" });
  await box.focus();
  await page.keyboard.press("Space");
  await settle(page);
  assert.deepEqual(await colours(), [0, 2]);
  assert.equal(await page.locator("#time .column").first().getByRole("button", { name: "cubic-2" }).getAttribute("aria-pressed"), "false");
  await page.locator("#delay").getByRole("button", { name: "cubic-2" }).click();
  await settle(page);
  assert.deepEqual(await colours(), [0, 1, 2]);
  assert.equal(await box.isChecked(), true);
  await page.locator("label", { hasText: "tail" }).click();
  await page.locator("label", { hasText: "logarithmic" }).click();
  await settle(page);
  for (const { title, lines } of await plots(page)) for (const { colour, length } of lines) assert.ok(length > 100, `${title}, logarithmic: ${colour}`);
  assert.match((await page.locator("#delay .plot").first().getAttribute("aria-label")) ?? "", /share of packets above/);
  await page.screenshot({ path: shot("3-logarithmic"), fullPage: true });
  assert.deepEqual(complaints, []);
  await close();
});

test("many: lines are added by name and by pointing, groups change", async () => {
  const { page, complaints, close } = await open(browser, url64);
  const column = page.locator("#time .column").first();
  const entries = async () => (await column.locator(".entries li").allTextContents()).map((text) => text.trim());
  const before = await entries();
  assert.deepEqual(before.slice(0, 3).map((text) => text.replace(/ median.*/, "")), ["bbr (21)", "cubic (21)", "prague (22)"]);
  await column.getByRole("combobox").fill("flow-33");
  await settle(page);
  assert.equal((await entries()).at(-1), "flow-33×");
  await page.getByRole("button", { name: "All 64 rows" }).first().click();
  assert.equal(await page.getByRole("checkbox", { name: "flow-33", exact: true }).isChecked(), true);
  await column.locator("label", { hasText: "none" }).click();
  await settle(page);
  assert.match((await entries())[0] ?? "", /^all 64 flows/);
  assert.equal((await plots(page))[0]?.lines.length, 3);

  const over = column.locator(".overlay").nth(1);
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

test("an hour is drawn with no more points than a screen shows, and its worst moment is among them", async () => {
  const run = sample(3);
  const length = 36_000;
  /** @param {unknown[][]} rows */
  const long = (rows) => rows.map((row) => Array.from({ length }, (_, index) => (index === 12_345 ? 500 : row[index % row.length])));
  const t_s = Array.from({ length }, (_, index) => (index + 1) / 10);
  const { flows, ues } = run.series;
  const series = { ...run.series, t_s, flows: { ...flows, rtt_ms: long(flows.rtt_ms) }, ues: { ...ues, queue_ms: long(ues.queue_ms) } };
  const { page, close } = await open(browser, write("hour.html", { ...run, series }));
  const [rtt] = (await plots(page)).filter(({ id }) => id === "flow-rtt");
  for (const { points } of rtt?.lines ?? []) assert.ok(points > 500 && points <= 2_000, `${points} points`);
  const top = await page.locator("#flow-rtt path[data-colour]").first().evaluate((line) => /** @type {SVGPathElement} */ (line).getBBox().y);
  assert.ok(top < 12, `the peak is drawn ${top} px below the top`);
  await close();
});

test("the theme follows the system until it is chosen, and the choice is kept", async () => {
  const { page, complaints, close } = await open(browser, url3);
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "dark" });
  await settle(page);
  assert.equal(await ground(), "rgb(20, 24, 28)");
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
  const url = write("nasty.html", { ...nasty, name, description: name, flows: [flow], live, interrupted_at_s: 7.5 });
  const { page, complaints, close } = await open(browser, url);
  assert.equal(await page.locator("h1").textContent(), name);
  assert.equal(await page.locator(".description").textContent(), name);
  assert.equal(await page.locator("main img, main script, main b").count(), 0);
  await page.locator("#scenario summary").press("Enter");
  assert.match((await page.locator("pre").textContent()) ?? "", /<\/script><b>not markup<\/b>/);
  assert.match((await page.locator("header").textContent()) ?? "", /7\.5\u00a0s of 20\u00a0s, interrupted/);
  assert.match((await page.locator("#live").textContent()) ?? "", /Thread busy50\.0\u00a0%.*Packets in1\u2009234/);
  await page.screenshot({ path: shot("nasty") });
  assert.deepEqual(complaints, []);
  await close();
});

test("the page's policy lets nothing out, even if its own script asked", async () => {
  const { page, close } = await open(browser, url3);
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

test("the page is one file that carries its parts' licences", () => {
  const html = readFileSync(page0, "utf8");
  assert.doesNotMatch(html, /<(script|link|img)[^>]+(src|href)="(?!data:)/);
  for (const name of ["preact", "@preact/signals-core", "@tanstack/table-core", "d3-axis", "d3-scale", "d3-shape"]) assert.ok(html.includes(`\n${name}:\n`), name);
  assert.ok(html.length < 300_000, `${html.length} characters`);
});

test("a page without a run says what to do", async () => {
  const { page, complaints, close } = await open(browser, page0.href);
  assert.match((await page.getByRole("alert").textContent()) ?? "", /holds no run.*tidemark run FILE/);
  assert.deepEqual(await faults(page), []);
  assert.deepEqual(complaints, []);
  await close();
});

test("a run that the page cannot read is refused where its reader looks", async () => {
  const { page, complaints, close } = await open(browser, write("another-version.html", { ...sample(1), tidemark: "0.0.9" }));
  assert.match((await page.getByRole("alert").textContent()) ?? "", /is from Tidemark 0\.0\.9.*write the report again/);
  assert.equal(await page.locator("table").count(), 0);
  assert.deepEqual(complaints, []);
  await close();
});
