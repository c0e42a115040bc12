/** The playground in a browser, and its simulator beside the command: `make playground-test`. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { after, test } from "node:test";
import { instantiate } from "../../src/playground/simulator.js";
import { faults, findChromium, launch, open, shot } from "./page.mjs";

/** Threads begin at an address of the page's own. */
const foreign = (/** @type {string[]} */ complaints) => complaints.filter((complaint) => !complaint.startsWith("request for blob:"));

const { PLAYGROUND = "", SIMULATOR = "", TIDEMARK = "" } = process.env;
const root = new URL("../../../", import.meta.url).pathname;

test("the simulator's results are those of the command, byte by byte", async () => {
  const simulator = await instantiate(await WebAssembly.compile(readFileSync(SIMULATOR)), () => {});
  const folders = [...["", "/live", "/network", "/papers", "/rfc8867"].map((folder) => `scenarios${folder}`), "web/src/playground/lessons"];
  // Some warm up for longer than that.
  const set = ["duration=12 s", "warmup=2 s"];
  const scenarios = folders.flatMap((folder) => readdirSync(`${root}${folder}`).map((file) => `${folder}/${file}`)).filter((file) => file.endsWith(".toml"));
  const compared = [];
  for (const scenario of scenarios) {
    const text = readFileSync(`${root}${scenario}`, "utf8");
    // Traces are files, of which a page has none, and a study is many runs.
    if (/model = "trace"|trace = |^\[+case/m.test(text)) continue;
    const answer = JSON.parse(simulator("run", { text, set }));
    assert.ok(answer.results, `${scenario}: ${JSON.stringify(answer).slice(0, 500)}`);
    const out = mkdtempSync(`${tmpdir()}/playground-`);
    execFileSync(TIDEMARK, ["run", "--quiet", scenario, ...set.flatMap((one) => ["--set", one]), "--force", "--out", out], { cwd: root, stdio: "ignore" });
    assert.ok(answer.results.summary === readFileSync(`${out}/summary.json`, "utf8"), `${scenario}: another summary.json`);
    compared.push(scenario);
  }
  assert.ok(compared.length >= 36, `${compared}`);
});

const chromium = findChromium();
if (chromium === undefined) {
  console.error("SKIPPED: the playground in a browser, for want of Chromium (set CHROMIUM)");
} else {
  const browser = await launch(chromium);
  after(() => browser.close());

  test("each lesson shows what it expects", async () => {
    const { page, complaints, close } = await open(browser, `file://${PLAYGROUND}`);
    const lessons = page.locator(".lessons button");
    assert.equal(await lessons.count(), 6);
    for (const lesson of await lessons.all()) {
      await lesson.click();
      await page.locator(".expected li").first().waitFor({ timeout: 60_000 });
      for (const line of await page.locator(".expected li").allInnerTexts()) assert.match(line, /: as expected$/);
      await page.locator(".expected").evaluate((list) => list.closest("section")?.remove());
    }
    assert.deepEqual(foreign(complaints), []);
    await close();
  });

  for (const [width, height, colorScheme] of /** @type {const} */ ([[1440, 900, "light"], [390, 844, "dark"]])) {
    test(`what is typed is checked, run, linked and shown, at ${width} pixels, ${colorScheme}`, async () => {
      const { page, complaints, close } = await open(browser, `file://${PLAYGROUND}`, { width, height, colorScheme });
      const editor = page.locator(".cm-content");
      await editor.click();
      await page.keyboard.press("Control+A");
      await page.keyboard.insertText('name = "mine"\nduration = "3 s"\n[[ue]]\nname = "u"\nchannel = { model = "statik" }\n[[flow]]\nname = "f"\nue = "u"\nround_trip = "20 ms"\nsender = { controller = "prague" }\n');
      await page.locator(".cm-lintRange-error").waitFor();
      await page.getByRole("button", { name: "Run as A" }).click();
      await page.getByRole("alert").waitFor();
      assert.match(await page.getByRole("alert").innerText(), /did you mean `static`/);
      await editor.click();
      await page.keyboard.press("Control+A");
      await page.keyboard.insertText('name = "mine"\nduration = "3 s"\n[[ue]]\nname = "u"\n[[flow]]\nname = "f"\nue = "u"\nround_trip = "20 ms"\nsender = { controller = "prague" }\n');
      await page.getByLabel("law").selectOption("none");
      await page.getByRole("slider", { name: "round trip" }).fill("40");
      assert.match(await page.locator(".command").innerText(), /--set 'marker\.law=none' --set 'flow\.\*\.round_trip=40 ms'/);
      await page.getByRole("button", { name: "Run as A" }).click();
      const report = page.frameLocator("iframe.report");
      await report.getByRole("heading", { name: "mine" }).waitFor({ timeout: 20_000 });
      await page.getByRole("button", { name: "Copy a link" }).click();
      await page.waitForFunction(() => location.hash.length > 20);
      const linked = await open(browser, page.url());
      await linked.page.locator(".cm-content", { hasText: "mine" }).waitFor();
      assert.equal(await linked.page.getByLabel("law").inputValue(), "none");
      assert.equal(await linked.page.getByRole("slider", { name: "round trip" }).getAttribute("aria-valuetext"), "40 ms");
      await linked.page.getByRole("button", { name: "round trip as in the scenario" }).click();
      assert.equal(await linked.page.locator(".command").innerText(), "tidemark run scenario.toml --set 'marker.law=none'");
      await linked.close();
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
      await page.screenshot({ path: shot(`playground-${colorScheme}-${width}`), fullPage: true });
      assert.deepEqual(await faults(page, { preload: false }), []);
      assert.deepEqual(foreign(complaints), []);
      await close();
    });
  }
}
