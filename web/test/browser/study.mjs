/** The page of a study, of a small one that the command has just run, in a browser: `npm run test:browser`. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { faults, findChromium, launch, legibility, open, settle } from "./page.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const shots = fileURLToPath(new URL("../../dist/screenshots/", import.meta.url));
const command = process.env.TIDEMARK ?? join(root, "target/release/tidemark");

const chromium = findChromium();
if (!chromium || !existsSync(command)) {
  console.log(`*** SKIPPED: the test of the study's page found ${chromium ? `no ${command}: make build` : "no Chromium"}.`);
  process.exit(0);
}
mkdirSync(shots, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), "study-"));
after(() => rmSync(folder, { recursive: true }));
const browser = await launch(chromium);
after(() => browser.close());

/** Quantile of Student's t with two degrees of freedom at 97.5 % (NIST, Engineering Statistics Handbook 1.3.6.7.2). */
const T = 4.303;
const LAWS = ["none", "l4span"], TIMES = ["10 ms", "40 ms", "160 ms"], FLOWS = ["prague-desk", "prague-walker", "cubic-window", "cubic-car"];
const METRICS = ["throughput_mbps", "owd_ms.p99"];

/** @param {string} name @param {string[]} flags */
function sweep(name, flags) {
  const short = ["--set", "duration=2 s", "--set", "warmup=1 s", "--out", join(folder, name)];
  const metrics = METRICS.flatMap((metric) => ["--metric", metric]);
  execFileSync(command, ["run", "scenarios/first-look.toml", "--seeds", "3", ...metrics, ...short, ...flags], { cwd: root, stdio: "pipe" });
  return pathToFileURL(join(folder, name, "study.html")).href;
}

/** @typedef {{ mean: number, half: number }} Estimate */
/** @param {number[]} values @returns {Estimate} */
function estimate(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, half: T * Math.sqrt(squares / (values.length - 1) / values.length) };
}

const url = sweep("crossed", ["--vary", `marker.law=${LAWS.join(",")}`, "--vary", `flow.*.round_trip=${TIMES.join(",")}`]);
const rows = readFileSync(join(folder, "crossed/table.csv"), "utf8").trim().split("\n").slice(1).map((row) => row.split(","));
/** Values of a metric at one point, by seed. @param {string | undefined} law @param {string | undefined} time @param {string | undefined} flow @param {number} metric */
const values = (law, time, flow, metric) => rows.filter((row) => row[0] === law && row[1] === time && row[3] === flow).map((row) => Number(row[4 + metric]));
/** @param {string} law @param {string} time @param {string} flow @param {number} metric */
const at = (law, time, flow, metric) => estimate(values(law, time, flow, metric));

/**
 * What a section's plot shows, in the units of its axes: marks with their titles, and the intervals through them.
 * @param {import("playwright-core").Page} page
 * @param {string} heading
 */
const plot = (page, heading) =>
  page.locator("section", { has: page.getByRole("heading", { name: heading, exact: true }) }).evaluate((section) => {
    const drawing = /** @type {SVGSVGElement} */ (section.querySelector(".scatter svg"));
    const [below, beside] = /** @type {[Element, Element]} */ (/** @type {unknown} */ ([...drawing.querySelectorAll(".axis")]));
    const title = drawing.querySelector(".label")?.textContent ?? "";
    const moved = (/** @type {Element | null} */ element) => (/translate\(([-\d.]+),([-\d.]+)\)/.exec(element?.getAttribute("transform") ?? "") ?? []).slice(1).map(Number);
    /** Ticks of an axis: their places and texts. @param {Element} axis @param {number} way */
    const ticksOf = (axis, way) => [...axis.querySelectorAll(".tick")].map((tick) => /** @type {[number, string]} */ ([moved(tick)[way] ?? Number.NaN, (tick.textContent ?? "").replaceAll("\u2009", "").replace("\u2212", "-")])).filter(([, text]) => text !== "");
    /** Line through two ticks of an axis. @param {[number, string][]} ticks @param {boolean} isLog */
    const axis = (ticks, isLog) => {
      const value = (/** @type {string} */ of) => (isLog ? Math.log(Number.parseFloat(of)) : Number.parseFloat(of));
      const [[x, a], [y, b]] = /** @type {[[number, string], [number, string]]} */ ([ticks[0], ticks.at(-1)]);
      return (/** @type {number} */ place) => {
        const of = value(a) + ((place - x) / (y - x)) * (value(b) - value(a));
        return isLog ? Math.exp(of) : of;
      };
    };
    const ticks = ticksOf(below, 0);
    const [across, up] = [axis(ticks, title.includes("logarithmic")), axis(ticksOf(beside, 1), false)];
    const marks = [...drawing.querySelectorAll(".place")].map((place) => {
      const [x = 0, y = 0] = moved(place);
      const bars = place.querySelector(".interval")?.getAttribute("d") ?? "";
      const [, bottom = 0, top = 0] = (/M0,([-\d.]+)V([-\d.]+)/.exec(bars) ?? []).map(Number);
      const level = /M([-\d.]+),0H([-\d.]+)/.exec(bars);
      const mark = /** @type {Element} */ (place.querySelector(".mark"));
      return {
        title: place.querySelector("title")?.textContent ?? "",
        colour: getComputedStyle(mark).stroke,
        shape: mark.getAttribute("d"),
        filled: getComputedStyle(mark).fill === getComputedStyle(mark).stroke,
        x: across(x),
        y: up(y),
        half: Math.abs(up(y + bottom) - up(y + top)) / 2,
        width: level ? [across(x + Number(level[1])), across(x + Number(level[2]))] : null,
      };
    });
    return { title, marks, lines: drawing.querySelectorAll("path.line").length, ticks: ticks.map(([, text]) => text) };
  });

/** Sign and digits of a number on the page. @param {string} text */
const number = (text) => Number.parseFloat(text.replaceAll("\u2009", "").replace("\u2212", "-"));

/** @param {number} found @param {number} expected @param {number} scale @param {string} what */
const near = (found, expected, scale, what) => assert.ok(Math.abs(found - expected) <= 0.004 * scale, `${what}: drawn at ${found}, is ${expected}`);
/** @param {string} name @param {import("playwright-core").Page} page @param {string} heading */
const chooser = (name, page, heading) => page.locator("section", { has: page.getByRole("heading", { name: heading, exact: true }) }).getByRole("combobox", { name, exact: true });

const AGAINST = "Each metric against each parameter";

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  test(`a metric against a parameter, ${colorScheme}: every mean and its interval is where the table has it`, async () => {
    const { page, complaints, close } = await open(browser, url, { colorScheme });
    for (const [metric, name] of METRICS.entries()) {
      await chooser("Metric", page, AGAINST).selectOption({ index: metric });
      const { title, marks, lines, ticks } = await plot(page, AGAINST);
      assert.equal(title, "flow.*.round_trip, logarithmic");
      assert.deepEqual(ticks, TIMES);
      assert.equal(lines, LAWS.length * FLOWS.length);
      assert.equal(marks.length, LAWS.length * FLOWS.length * TIMES.length);
      const all = LAWS.flatMap((law) => FLOWS.flatMap((flow) => TIMES.map((time) => ({ law, flow, time, of: at(law, time, flow, metric) }))));
      const range = Math.max(...all.map(({ of }) => of.mean + of.half)) - Math.min(...all.map(({ of }) => of.mean - of.half));
      for (const { law, flow, time, of } of all) {
        const mark = marks.find((one) => one.title.startsWith(`marker.law = ${law}, flow = ${flow} at ${time}: `));
        assert.ok(mark, `${law}, ${flow}, ${time}`);
        near(mark.y, of.mean, range, mark.title);
        near(mark.half, of.half, range, `interval of ${mark.title}`);
        const printed = /: ([\d.\u2009\u2212]+)/.exec(mark.title)?.[1]?.replaceAll("\u2009", "") ?? "";
        const unit = 10 ** -(printed.split(".")[1] ?? "").length;
        assert.ok(Math.abs(Number(printed) - of.mean) <= 0.5001 * unit, `${name}: ${mark.title}, is ${of.mean}`);
      }
    }
    const faint = (await legibility(page)).filter(({ contrast }) => contrast < 4.5);
    assert.deepEqual(faint, [], "WCAG 1.4.3");
    await page.screenshot({ path: join(shots, `study-${colorScheme}.png`), fullPage: true });
    assert.deepEqual(complaints, []);
    await close();
  });
}

/** Number of different values. @param {unknown[]} of */
const different = (of) => new Set(of).size;

test("colour means the law, marker and dash the flow; in a trade-off the marker means the next that was varied", async () => {
  const { page, close } = await open(browser, url);
  const against = (await plot(page, AGAINST)).marks;
  const dashes = await page.locator("path.line").evaluateAll((lines) => lines.map((line) => [getComputedStyle(line).stroke, line.getAttribute("stroke-dasharray")].join(" ")));
  assert.equal(different(dashes.slice(0, LAWS.length * FLOWS.length)), LAWS.length * FLOWS.length);
  await chooser("of flow", page, "Trade-off").selectOption(FLOWS[0] ?? "");
  const tradeOff = (await plot(page, "Trade-off")).marks;
  for (const [marks, next, names] of /** @type {const} */ ([[against, (/** @type {string} */ name) => `flow = ${name} `, FLOWS], [tradeOff, (/** @type {string} */ name) => `round_trip = ${name}:`, TIMES]])) {
    const colours = LAWS.map((law) => [...new Set(marks.filter(({ title }) => title.includes(`marker.law = ${law},`)).map(({ colour }) => colour))]);
    assert.deepEqual(colours.map((of) => of.length), LAWS.map(() => 1), "a law has one colour");
    assert.equal(different(colours.flat()), LAWS.length);
    const shapes = names.map((name) => [...new Set(marks.filter(({ title }) => title.includes(next(name))).map(({ shape }) => shape))]);
    assert.deepEqual(shapes.map((of) => of.length), names.map(() => 1), `a marker each: ${JSON.stringify(shapes)}`);
    assert.equal(different(shapes.flat()), names.length);
  }
  const notes = await page.locator("section .note").allTextContents();
  assert.ok(notes.some((note) => note.startsWith("Colour means marker.law, marker and dash flow.")));
  assert.ok(notes.some((note) => note.startsWith("Colour means marker.law, marker flow.*.round_trip.")));
  await close();
});

for (const [colorScheme, width] of /** @type {const} */ ([["light", 1440], ["dark", 390]])) {
  test(`a figure of the table opens the runs behind it, ${colorScheme}, ${width} px`, async () => {
    const { page, complaints, close } = await open(browser, url, { colorScheme, width });
    assert.deepEqual(await faults(page), []);
    const row = page.locator("section", { has: page.getByRole("heading", { name: "Best rows" }) }).locator("tbody tr").first();
    const [law = "", time = "", flow = ""] = await row.locator("th, td").allTextContents();
    await row.getByRole("button").first().focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    assert.equal(await dialog.getByRole("heading", { level: 2 }).innerText(), `marker.law = ${law}, flow.*.round_trip = ${time}, flow = ${flow}`);
    const own = rows.filter((one) => one[0] === law && one[1] === time && one[3] === flow);
    const shown = await dialog.locator("tbody tr").evaluateAll((all) => all.map((one) => [...one.querySelectorAll("th, td")].map((cell) => cell.textContent ?? "")));
    assert.deepEqual(shown.map(([seed]) => seed), own.map((one) => one[2]));
    shown.forEach((one, index) => METRICS.forEach((_, metric) => assert.ok(Math.abs(number(one[1 + metric] ?? "") / Number(own[index]?.[4 + metric]) - 1) < 5e-3)));
    const links = await dialog.getByRole("link").evaluateAll((all) => all.map((one) => /** @type {HTMLAnchorElement} */ (one).href));
    for (const [index, link] of links.entries()) {
      const record = JSON.parse(readFileSync(fileURLToPath(link), "utf8"));
      assert.deepEqual([record.key, record.summary.seed], [own[index]?.at(-1), Number(own[index]?.[2])]);
    }
    assert.deepEqual(await faults(page), []);
    assert.deepEqual((await legibility(page)).filter(({ contrast }) => contrast < 4.5), [], "WCAG 1.4.3");
    await page.screenshot({ path: join(shots, `study-runs-${colorScheme}-${width}.png`) });
    // The command of the page makes the same run.
    const again = (await dialog.locator("pre").innerText()).replace("tidemark run", `"${command}" run`).replace(/out\/run-\S+/, join(folder, `again-${width}`));
    execFileSync("sh", ["-c", again], { cwd: root, stdio: "pipe" });
    const summary = JSON.parse(readFileSync(join(folder, `again-${width}`, "summary.json"), "utf8"));
    const group = summary.flows.filter((/** @type {{ name: string }} */ one) => one.name === flow);
    assert.equal(group[0].throughput_mbps, Number(own[0]?.[4]));
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement?.className), "open");
    assert.deepEqual(complaints, []);
    await close();
  });
}

test("a study that keeps series opens the report of a run", async () => {
  const kept = sweep("kept", ["--vary", "marker.law=none,tide", "--flow", "cubic-car", "--series"]);
  const { page, complaints, close } = await open(browser, kept);
  await page.locator("button.open").first().click();
  const dialog = page.getByRole("dialog");
  assert.equal(await dialog.locator("pre").count(), 0, "no command is needed");
  const row = dialog.locator("tbody tr").nth(1);
  const [seed, rate] = await row.locator("th, td").allTextContents();
  assert.deepEqual(await faults(page), []);
  await row.getByRole("link", { name: "open" }).click();
  await page.waitForURL(/\/series\/[0-9a-f]+\/report\.html$/);
  await settle(page);
  const report = JSON.parse((await page.locator("#tidemark-data").textContent()) ?? "");
  const flow = report.flows.find((/** @type {{ name: string }} */ { name }) => name === "cubic-car");
  assert.equal(String(report.seed), seed);
  assert.ok(Math.abs(number(rate ?? "") / flow.throughput_mbps - 1) < 5e-3);
  assert.ok((await page.locator("#time path[data-colour]").count()) > 4, "what happened over time is drawn");
  assert.deepEqual(complaints, []);
  await close();
});

test("a study without series has the command of each run", async () => {
  const { page, close } = await open(browser, url);
  await page.locator("button.open").first().click();
  const dialog = page.getByRole("dialog");
  for (const seed of [1, 3, 2]) {
    await dialog.locator("tbody tr").nth(seed - 1).getByRole("button", { name: "command" }).click();
    assert.ok((await dialog.locator("pre").innerText()).includes(` --seed ${seed} `));
  }
  await close();
});

test("differences are taken seed by seed, and a tie is a hollow mark", async () => {
  const { page, close } = await open(browser, url);
  await chooser("against", page, AGAINST).selectOption("marker.law");
  await chooser("against", page, AGAINST).selectOption("flow.*.round_trip");
  await chooser("as", page, AGAINST).selectOption(`marker.law = none, flow = ${FLOWS[0]}`);
  const { marks } = await plot(page, AGAINST);
  const expected = LAWS.flatMap((law) => FLOWS.flatMap((flow) => TIMES.map((time) => {
    const base = values("none", time, FLOWS[0], 0);
    return { law, flow, time, of: estimate(values(law, time, flow, 0).map((value, seed) => value - (base[seed] ?? 0))) };
  })));
  const range = Math.max(...expected.map(({ of }) => of.mean + of.half)) - Math.min(...expected.map(({ of }) => of.mean - of.half));
  let ties = 0;
  for (const { law, flow, time, of } of expected) {
    const mark = marks.find((one) => one.title.startsWith(`marker.law = ${law}, flow = ${flow} at ${time}: `));
    assert.ok(mark, `${law}, ${flow}, ${time}`);
    near(mark.y, of.mean, range, mark.title);
    near(mark.half, of.half, range, `interval of ${mark.title}`);
    const tie = Math.abs(of.mean) <= of.half;
    ties += Number(tie);
    assert.equal(mark.filled, !tie, mark.title);
    assert.equal(mark.title.endsWith(", a tie"), tie, mark.title);
  }
  const cut = await page.locator(".scatter svg").first().evaluate((drawing) => {
    const frame = drawing.getBoundingClientRect();
    const isCut = (/** @type {DOMRect} */ box) => box.top < frame.top - 1 || box.bottom > frame.bottom + 1 || box.left < frame.left - 1 || box.right > frame.right + 1;
    return [...drawing.querySelectorAll("text")].filter((text) => isCut(text.getBoundingClientRect())).map((text) => text.textContent);
  });
  assert.deepEqual(cut, [], "every text of the plot is whole");
  assert.ok(ties > TIMES.length && ties < expected.length, `${ties} ties: the study shows both`);
  await page.screenshot({ path: join(shots, "study-differences.png"), fullPage: true });
  await close();
});

test("a trade-off has a point for each combination, and filled are those that no other beats in both metrics", async () => {
  const { page, close } = await open(browser, url);
  for (const flow of FLOWS) {
    await chooser("of flow", page, "Trade-off").selectOption(flow);
    const { title, marks } = await plot(page, "Trade-off");
    assert.match(title, /^owd_ms\.p99, ms/);
    const points = LAWS.flatMap((law) => TIMES.map((time) => ({ law, time, rate: at(law, time, flow, 0), delay: at(law, time, flow, 1) })));
    assert.equal(marks.length, points.length);
    const range = Math.max(...points.map(({ rate }) => rate.mean + rate.half)) - Math.min(...points.map(({ rate }) => rate.mean - rate.half));
    for (const { law, time, rate, delay } of points) {
      const mark = marks.find((one) => one.title.startsWith(`marker.law = ${law}, flow.*.round_trip = ${time}: `));
      assert.ok(mark, `${law}, ${time}`);
      near(mark.y, rate.mean, range, mark.title);
      near(mark.half, rate.half, range, `interval of ${mark.title}`);
      assert.ok(Math.abs(mark.x / delay.mean - 1) < 0.02, `${mark.title}: across at ${mark.x}, is ${delay.mean}`);
      const right = mark.width?.at(1) ?? Number.NaN;
      assert.ok(Math.abs(right / (delay.mean + delay.half) - 1) < 0.02, `${mark.title}: its bar ends at ${right}`);
      const beaten = points.some((other) => other.rate.mean >= rate.mean && other.delay.mean <= delay.mean && (other.rate.mean > rate.mean || other.delay.mean < delay.mean));
      assert.equal(mark.filled, !beaten, mark.title);
    }
  }
  await close();
});

test("best rows are in order, with differences from the best and what ties with it", async () => {
  const { page, close } = await open(browser, url);
  const section = page.locator("section", { has: page.getByRole("heading", { name: "Best rows" }) });
  await section.locator("select").first().selectOption({ index: 1 });
  await section.getByRole("button", { name: "All 24 rows" }).click();
  const shown = await section.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));
  const expected = LAWS.flatMap((law) => TIMES.flatMap((time) => FLOWS.map((flow) => ({ law, time, flow, of: at(law, time, flow, 1) }))));
  expected.sort((a, b) => a.of.mean - b.of.mean);
  assert.deepEqual(shown.map((row) => row.slice(0, 3)), expected.map(({ law, time, flow }) => [law, time, flow]));
  assert.equal(shown[0]?.[3], "best");
  const best = /** @type {typeof expected[0]} */ (expected[0]);
  const first = values(best.law, best.time, best.flow, 1);
  for (const [index, { law, time, flow }] of expected.entries()) {
    if (index === 0) continue;
    const apart = estimate(values(law, time, flow, 1).map((value, seed) => value - (first[seed] ?? 0)));
    const said = shown[index]?.[3] ?? "";
    assert.equal(said.endsWith(" (tie)"), Math.abs(apart.mean) <= apart.half, said);
    assert.ok(Math.abs(number(said) - apart.mean) <= Math.max(0.06 * apart.half, 0.01), `${said} is ${apart.mean}`);
    assert.equal(shown[index]?.at(-1), "3");
  }
  // A reader who wants one law sees its rows alone.
  await page.getByRole("combobox", { name: "marker.law", exact: true }).selectOption("l4span");
  await settle(page);
  const laws = await section.locator("tbody tr th:first-child").allTextContents();
  assert.ok(laws.length > 0 && laws.every((law) => law === "l4span"));
  await close();
});

test("a search says what it found at each point", async () => {
  const found = sweep("searched", ["--find", "ue.desk.count", "--until", "owd_ms.p99 <= 400", "--max", "4", "--vary", `marker.law=${LAWS.join(",")}`]);
  const { page, complaints, close } = await open(browser, found);
  const section = page.locator("section", { has: page.getByRole("heading", { name: "Largest ue.desk.count with owd_ms.p99 <= 400" }) });
  const shown = await section.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));
  assert.deepEqual(shown.map((row) => row[0]), LAWS.map((law) => `marker.law=${law}`));
  const said = execFileSync(command, ["run", "scenarios/first-look.toml", "--seeds", "3", ...METRICS.flatMap((metric) => ["--metric", metric]), "--set", "duration=2 s", "--set", "warmup=1 s", "--find", "ue.desk.count", "--until", "owd_ms.p99 <= 400", "--max", "4", "--vary", `marker.law=${LAWS.join(",")}`, "--out", join(folder, "searched")], { cwd: root, encoding: "utf8" });
  for (const [law, value] of shown) {
    const number = Number.parseInt(value ?? "", 10);
    const line = said.split("\n").find((one) => one.startsWith(`${law}: `)) ?? said;
    assert.ok(value === "not even 1" ? line.includes("not even") : line.includes(`ue.desk.count = ${number}`), `${value}: ${line}`);
  }
  // The first picture is the metric of the condition over what was sought, with its bound.
  const { title, marks } = await plot(page, AGAINST);
  assert.ok(title.startsWith("ue.desk.count") && marks.length >= LAWS.length);
  assert.equal(await page.locator(".level text").textContent(), "owd_ms.p99 <= 400");
  assert.deepEqual(await faults(page), []);
  await page.screenshot({ path: join(shots, "study-search.png"), fullPage: true });
  assert.deepEqual(complaints, []);
  await close();
});

test("pictures are taken away with their legends and all of their data", async () => {
  const { page, complaints, close } = await open(browser, url);
  for (const [title, head, lines] of /** @type {const} */ ([
    ["throughput_mbps, Mbit/s, against flow.*.round_trip", "marker.law,flow,flow.*.round_trip,", LAWS.length * TIMES.length * FLOWS.length],
    ["throughput_mbps, Mbit/s, against owd_ms.p99, ms", "marker.law,flow.*.round_trip,flow,", LAWS.length * TIMES.length],
  ])) {
    const taken = /** @param {string} kind */ async (kind) => {
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: `${title} as ${kind}` }).click()]);
      return readFileSync(await file.path());
    };
    const [svg, csv, png] = [String(await taken("SVG")), String(await taken("CSV")), await taken("PNG")];
    assert.ok(csv.startsWith(head) && csv.split("\n").length === lines + 1, csv.slice(0, 200));
    assert.ok(svg.includes("l4span") && svg.includes(title) && !svg.includes("var("));
    assert.deepEqual([...png.subarray(1, 4)], [...Buffer.from("PNG")]);
  }
  assert.deepEqual(complaints, []);
  await close();
});

test("it fits narrow windows", async () => {
  const { page, close } = await open(browser, url, { width: 390, height: 800 });
  const wide = await page.evaluate(() => {
    const { clientWidth } = document.documentElement;
    const isInside = (/** @type {Element} */ element) => element.closest(".table, pre, option") === null;
    return [...document.querySelectorAll("body *")].filter((element) => isInside(element) && element.getBoundingClientRect().right > clientWidth + 0.5).map((element) => element.outerHTML.slice(0, 80));
  });
  assert.deepEqual(wide, [], "only tables scroll sideways");
  const sizes = await page.locator(".scatter svg text").evaluateAll((texts) => texts.map((text) => Number.parseFloat(getComputedStyle(text).fontSize)));
  assert.ok(sizes.length > 10 && Math.min(...sizes) >= 11, `text of ${Math.min(...sizes)} px`);
  await chooser("Metric", page, AGAINST).selectOption({ index: 1 });
  await page.setViewportSize({ width: 700, height: 800 });
  await settle(page);
  assert.equal(await chooser("Metric", page, AGAINST).inputValue(), "1", "another width leaves what was chosen");
  assert.ok((await page.locator(".scatter svg").first().getAttribute("viewBox"))?.startsWith("0 0 6"));
  await page.setViewportSize({ width: 390, height: 800 });
  await settle(page);
  await page.screenshot({ path: join(shots, "study-390.png"), fullPage: true });
  await close();
});
