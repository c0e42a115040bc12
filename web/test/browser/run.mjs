/** The page that the command wrote of a run that it has just made: its sentences against the run's own files. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { faults, findChromium, launch, open, plots, shot } from "./page.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const command = process.env.TIDEMARK ?? join(root, "target/release/tidemark");
const chromium = findChromium();
if (!chromium || !existsSync(command)) {
  console.log(`*** SKIPPED: the test of a run's page found ${chromium ? `no ${command}: make build` : "no Chromium"}.`);
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "run-"));
after(() => rmSync(folder, { recursive: true }));
const browser = await launch(chromium);
after(() => browser.close());

const WARMUP = 2;

/** @param {string} scenario @param {string[]} flags */
function run(scenario, ...flags) {
  const out = join(folder, scenario.replaceAll("/", "-"));
  const length = flags.length > 0 ? [] : ["--set", "duration=8 s", "--set", `warmup=${WARMUP} s`];
  execFileSync(command, ["run", `scenarios/${scenario}.toml`, ...length, ...flags, "--out", out], { cwd: root, stdio: "pipe" });
  return { url: pathToFileURL(join(out, "report.html")).href, read: (/** @type {string} */ name) => readFileSync(join(out, name), "utf8") };
}

/** Rows of a CSV file as objects. @param {string} text @returns {Record<string, string>[]} */
function rows(text) {
  const [head = "", ...lines] = text.trim().split("\n");
  const names = head.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((cell, index) => [names[index] ?? "", cell])));
}

/** Sentences of a page, spaces as spaces. @param {import("playwright-core").Page} page */
const sentences = async (page) => (await page.locator(".story li").allTextContents()).map((text) => text.replaceAll("\u00a0", " ").replaceAll("\u2009", ""));

/** @param {number} found @param {number} expected @param {number} part @param {string} what */
const near = (found, expected, part, what) => assert.ok(Math.abs(found - expected) <= part * Math.abs(expected) + 1e-9, `${what}: ${found}, is ${expected}`);

test("a run of one cell: what its sentences say is what its series add up to", async () => {
  const { url, read } = run("first-look");
  const { page, complaints, close } = await open(browser, url);
  const said = (await sentences(page)).join("\n");
  const series = rows(read("series-flows.csv")).filter(({ t_s }) => Number(t_s) > WARMUP);
  const flows = rows(read("flows.csv"));
  const marks = new Map(flows.map(({ flow }) => [flow, series.filter((row) => row.flow === flow).reduce((sum, row) => sum + Number(row.marks), 0)]));
  const shares = flows.map(({ flow, sent_packets }) => ({ flow, share: (marks.get(flow) ?? 0) / Number(sent_packets) })).sort((a, b) => b.share - a.share);
  const [, share = "", marked = ""] = /([\d.]+) % of (\S+)'s packets carried CE/.exec(said) ?? [];
  assert.equal(marked, shares[0]?.flow);
  near(Number(share), 100 * (shares[0]?.share ?? 0), 0.05, "share of marks");

  const rates = flows.map(({ flow }) => {
    const own = series.filter((row) => row.flow === flow).map(({ throughput_mbps }) => Number(throughput_mbps));
    return { flow, rate: own.reduce((sum, rate) => sum + rate, 0) / own.length };
  }).sort((a, b) => a.rate - b.rate);
  const [, least = "", slow = "", most = "", fast = ""] = /from ([\d.]+) Mbit\/s \((\S+)\) to ([\d.]+) Mbit\/s \((\S+)\)/.exec(said) ?? [];
  assert.deepEqual([slow, fast], [rates[0]?.flow, rates.at(-1)?.flow]);
  near(Number(least), rates[0]?.rate ?? 0, 0.02, "least rate");
  near(Number(most), rates.at(-1)?.rate ?? 0, 0.02, "largest rate");

  const [, ue = "", key = "", threshold = "", above = ""] = /(\S+)'s queue was the longest: [\d.]+ ms at the 99th percentile; it was above (\S+) \(([\d.]+) ms\) for ([\d.]+) % of the time/.exec(said) ?? [];
  const waits = rows(read("series-ues.csv")).filter((row) => row.UE === ue || row.ue === ue).filter(({ t_s }) => Number(t_s) > WARMUP).flatMap(({ queue_ms }) => (queue_ms === "" ? [] : [Number(queue_ms)]));
  assert.ok(["tau_s", "tau_classic"].includes(key));
  near(Number(above), (100 * waits.filter((wait) => wait > Number(threshold)).length) / waits.length, 0.05, `share of the time above ${key}`);

  // Shares of resource blocks have the mean of the whole run, and packets by their ECN field are those of the rates.
  for (const one of rows(read("ues.csv"))) {
    const own = rows(read("series-ues.csv")).filter((row) => row.ue === one.ue && Number(row.t_s) > WARMUP);
    const sum = (/** @type {string} */ name) => own.reduce((sum, row) => sum + Number(row[name]), 0);
    near(sum("prb_share") / own.length, Number(one.prb_share), 0.001, `${one.ue}: share of resource blocks`);
    const packets = ["not_ect", "ect1", "ect0", "ce"].reduce((all, name) => all + sum(name), 0);
    const ofFlows = flows.filter((flow) => flow.ue === one.ue);
    assert.ok(packets > 0 && packets <= ofFlows.reduce((sum, { sent_packets }) => sum + Number(sent_packets), 0) * 1.05, `${one.ue}: ${packets} packets`);
    assert.equal(sum("ect1") > 0, ofFlows.some(({ controller }) => controller === "prague"), `${one.ue}: only Prague sends ECT(1)`);
  }
  assert.match((await page.locator("#motion [role=img]").getAttribute("aria-label")) ?? "", /^The cell at 8\.00 s\. desk: [\d.]+ % of the resource blocks/);

  assert.match(await page.locator(".description").innerText(), /Two Prague and two CUBIC downloads/);
  assert.deepEqual((await plots(page)).find(({ id }) => id === "ue-queue")?.levels, ["tau_s 10 ms", "tau_classic 25 ms"]);
  assert.deepEqual(await faults(page), []);
  assert.deepEqual(complaints, []);
  await close();
});

test("beside an unmarked run each sentence says what was there instead", async () => {
  const { url, read } = run("first-look");
  const without = join(folder, "unmarked");
  execFileSync(command, ["run", "scenarios/first-look.toml", "--set", "duration=8 s", "--set", `warmup=${WARMUP} s`, "--set", "marker.law=none", "--out", without], { cwd: root, stdio: "pipe" });
  execFileSync(command, ["report", join(folder, "first-look"), "--beside", without], { cwd: root, stdio: "pipe" });
  const other = JSON.parse(readFileSync(join(without, "summary.json"), "utf8"));
  for (const [colorScheme, width] of /** @type {const} */ ([["light", 1440], ["dark", 390]])) {
    const { page, complaints, close } = await open(browser, url, { colorScheme, width });
    const said = await sentences(page);
    const queue = said.find((one) => one.includes("queue")) ?? "";
    const [, ue = "", wait = ""] = /^(\S+)'s queue .*; beside an unmarked run: ([\d.]+) ms\.$/.exec(queue) ?? [];
    near(Number(wait), other.ues.find((/** @type {{ name: string }} */ { name }) => name === ue)?.queue_ms.p99, 0.01, queue);
    const rates = said.find((one) => one.startsWith("The rates")) ?? "";
    for (const [, rate = "", flow = ""] of rates.split("unmarked run:")[1]?.matchAll(/([\d.]+) Mbit\/s \((\S+)\)/g) ?? assert.fail(rates)) {
      near(Number(rate), other.flows.find((/** @type {{ name: string }} */ { name }) => name === flow)?.throughput_mbps, 0.01, rates);
    }
    assert.equal(said.filter((one) => one.includes("; beside an unmarked run: ")).length, said.length);
    assert.deepEqual(await faults(page), []);
    await page.screenshot({ path: shot(`beside-${colorScheme}-${width}`) });
    assert.deepEqual(complaints, []);
    await close();
  }
  assert.ok(read("report.html").includes("unmarked"));
});

test("a run over routers: its way is drawn, and the sentence on the bottleneck is what its series say", async () => {
  const { url, read } = run("moving-bottleneck", "--seed", "1");
  const { page, complaints, close } = await open(browser, url);
  assert.match((await page.locator(".drawing").getAttribute("aria-label")) ?? "", /cubic \(1 flow\) to transit \(codel\) to peering \(dualpi2\) to gNB \(1 cell\) to ue/);
  const [, name = "", full = ""] = /(\S+) is a bottleneck: its link was full for (\d+) % of the time/.exec((await sentences(page)).join("\n")) ?? [];
  const series = rows(read("series-routers.csv")).filter(({ router }) => router === name);
  near(Number(full), (100 * series.filter(({ throughput_mbps, capacity_mbps }) => Number(throughput_mbps) >= 0.9 * Number(capacity_mbps)).length) / series.length, 0.03, "share of the time");
  assert.match(await page.locator("#time").innerText(), /10\.0 s: transit 1.000.Mbit\/s/);
  assert.deepEqual(complaints, []);
  await close();
});
