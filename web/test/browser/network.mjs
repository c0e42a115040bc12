/** The page of switches, filled as `tidemark-sdn` does. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { built, dist, faults, findChromium, launch, open, plots, shot } from "./page.mjs";

built();
const browser = await launch(/** @type {string} */ (findChromium()));
after(() => browser.close());

const t_s = Array.from({ length: 600 }, (_, index) => index / 100);
const rows = [t_s.map((t) => 1 + Math.sin(t)), t_s.map((t) => (t < 1 ? null : 15 + Math.sin(t)))];
const panels = { queues: ["l4s", "classic"], pictures: ["One-way delay", "Queue"].map((title) => ({ title, unit: "delay (ms)", t_s, rows })) };
const file = new URL("sample-network.html", dist);
const filled = { title: "SDN-L4S", content: '<h1>SDN-L4S</h1><h2>Over time</h2><div id="plots"></div>', panels: JSON.stringify(panels) };
writeFileSync(file, Object.entries(filled).reduce((text, [name, value]) => text.replace(`{{${name}}}`, value), readFileSync(new URL("network.html", dist), "utf8")));

for (const [width, colorScheme] of /** @type {const} */ ([[1440, "light"], [390, "dark"]])) {
  test(`queues over time at ${width} pixels, ${colorScheme}`, async () => {
    const { page, complaints, close } = await open(browser, file.href, { width, colorScheme });
    const drawn = await plots(page);
    assert.deepEqual(drawn.map(({ title, lines }) => [title, lines.filter(({ length }) => length > 0).length]), [["One-way delay", 2], ["Queue", 2]]);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    assert.deepEqual(await faults(page), []);
    assert.deepEqual(complaints, []);
    await page.screenshot({ path: shot(`network-${width}`), fullPage: true });
    await close();
  });
}
