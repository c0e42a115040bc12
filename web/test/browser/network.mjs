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
const topology = { switches: [{ name: "s1", connected: true }, { name: "<s2>", connected: false }, { name: "s3", connected: true }], links: [{ ends: [0, 1], load: 0.93 }, { ends: [1, 2], load: 0 }] };
const panels = { topology, queues: ["l4s", "classic"], pictures: ["One-way delay", "Queue"].map((title) => ({ title, unit: "delay (ms)", t_s, rows })) };
const file = new URL("sample-network.html", dist);
const filled = { title: "SDN-L4S", content: '<h1>SDN-L4S</h1><div id="topology"></div><h2>Over time</h2><div id="plots"></div>', panels: JSON.stringify(panels) };
writeFileSync(file, Object.entries(filled).reduce((text, [name, value]) => text.replace(`{{${name}}}`, value), readFileSync(new URL("network.html", dist), "utf8")));

for (const [width, colorScheme] of /** @type {const} */ ([[1440, "light"], [390, "dark"]])) {
  test(`the ring of switches and queues over time at ${width} pixels, ${colorScheme}`, async () => {
    const { page, complaints, close } = await open(browser, file.href, { width, colorScheme });
    const drawn = await plots(page);
    assert.deepEqual(drawn.map(({ title, lines }) => [title, lines.filter(({ length }) => length > 0).length]), [["One-way delay", 2], ["Queue", 2]]);
    const ring = page.getByRole("img", { name: "Loads of links: s1 to <s2> 93 %, <s2> to s3 0 %" });
    assert.deepEqual(await ring.locator("text").allTextContents(), ["93 %", "0 %", "s1", "<s2>", "s3"]);
    assert.equal(await ring.locator("circle[stroke-dasharray]").count(), 1);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    assert.deepEqual(await faults(page), []);
    assert.deepEqual(complaints, []);
    await page.screenshot({ path: shot(`network-${width}`), fullPage: true });
    await close();
  });
}
