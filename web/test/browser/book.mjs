/** The book, as a reader's browser shows it: `make book-test`. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { faults, findChromium, launch, open } from "./page.mjs";

const root = new URL("../../../", import.meta.url);
const target = process.env.CARGO_TARGET_DIR ? pathToFileURL(`${process.env.CARGO_TARGET_DIR}/`) : new URL("target/", root);
const book = new URL("book/html/", target);
assert.ok(existsSync(book), `${book.pathname} is not there: run \`make book\``);

const chromium = findChromium();
if (chromium === undefined) {
  console.error("SKIPPED: the book in a browser, for want of Chromium (set CHROMIUM)");
  process.exit(0);
}
const browser = await launch(chromium);
after(() => browser.close());

/** @param {string} page */
const address = (page) => new URL(`${page}.html`, book).href;

/** Lines of a CSV file whose quotes hold commas alone. */
const questions = readFileSync(new URL("results/book/questions.csv", root), "utf8")
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => line.match(/^(?:"(?<quoted>.*)"|(?<plain>[^,]*)),(?<page>[^,]*),(?<search>.*)$/)?.groups ?? assert.fail(line));

for (const [width, height, colorScheme] of /** @type {const} */ ([[1440, 900, "light"], [390, 844, "dark"]])) {
  for (const name of ["README", "start", "part-findings", "measured/choosing", "reference/laws"]) {
    test(`${name} at ${width} pixels, ${colorScheme}`, async () => {
      const { page, complaints, close } = await open(browser, address(name), { width, height, colorScheme });
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, "nothing is cut off at the right");
      assert.deepEqual(await faults(page, { preload: false }), []);
      assert.deepEqual(complaints, []);
      await close();
    });
  }
}

test("every part is a link at the top of each page", async () => {
  const { page, close } = await open(browser, address("guide/python"));
  const parts = await page.locator("header nav a").allInnerTexts();
  assert.deepEqual(parts.map((part) => part.trim()), ["Start", "Guides", "How it works", "Findings", "Reference", "Decisions"]);
  await close();
});

test("a search answers each question among its first five pages", async () => {
  assert.equal(questions.length, 40);
  const { page, close } = await open(browser, address("search"));
  const far = [];
  for (const { quoted, plain, page: answer, search } of questions) {
    await page.goto(`${address("search")}?q=${encodeURIComponent(search ?? "")}`);
    await page.waitForFunction(() => /found|match/.test(document.querySelector("#search-results p")?.textContent ?? ""));
    const found = await page.locator("ul.search li > a").evaluateAll((links) => links.map((link) => link.getAttribute("href")?.split(/[?#]/)[0]));
    const first = [...new Set(found)].slice(0, 5);
    if (!first.includes(`${answer}.html`)) far.push(`${quoted ?? plain} "${search}" finds ${first}, not ${answer}`);
  }
  assert.deepEqual(far, []);
  await close();
});
