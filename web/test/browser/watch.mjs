/** Looks at a running program's page: `node test/browser/watch.mjs ADDRESS NAME` prints what it sees, and what is wrong with it, as JSON. */

import { mkdirSync } from "node:fs";
import { dist, faults, findChromium, launch, legibility, plots, shot } from "./page.mjs";

const [address = "", name = ""] = process.argv.slice(2);
const browser = await launch(/** @type {string} */ (findChromium()));
mkdirSync(new URL("screenshots/", dist), { recursive: true });

/** @param {"light" | "dark"} colorScheme @param {number} width */
async function look(colorScheme, width) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  /** @type {string[]} */
  const wrong = [];
  page.on("console", (said) => ["error", "warning"].includes(said.type()) && wrong.push(said.text()));
  page.on("pageerror", (error) => wrong.push(error.message));
  await page.goto(address);
  await page.locator("path[data-colour][d*=L]").first().waitFor();
  // Four states come in this time.
  await page.waitForTimeout(1_000);
  const drawn = (await plots(page)).map(({ id, lines }) => [id, lines.filter(({ length }) => length > 0).length]);
  const tables = await page.locator("table").evaluateAll((all) => all.map((table) => [table.closest(".tabled")?.querySelector("h3")?.textContent, table.querySelectorAll("tbody tr").length]));
  wrong.push(...(await faults(page)), ...(await legibility(page)).filter(({ contrast }) => contrast < 4.5).map(({ text }) => `faint: ${text}`));
  if ((await page.evaluate(() => document.documentElement.scrollWidth)) > width) wrong.push("the page is wider than the window");
  await page.screenshot({ path: shot(`${name}-${colorScheme}-${width}`), fullPage: true });
  await context.close();
  return { drawn, tables, wrong };
}

const seen = [];
for (const colorScheme of /** @type {const} */ (["light", "dark"])) for (const width of [1440, 390]) seen.push(await look(colorScheme, width));
console.log(JSON.stringify(seen));
await browser.close();
