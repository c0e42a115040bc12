/** What the browser test sees of a page: its requests and complaints, its ink, its text. */

import axe from "axe-core";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { embed } from "../../sample/sample.js";

export const dist = new URL("../../dist/", import.meta.url);
const shots = new URL("screenshots/", dist);

/** @returns {string | undefined} */
export function findChromium() {
  // The headless shell is the same engine without a browser's windows, at half the processor time.
  const known = [process.env.CHROMIUM, "/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  return known.find((path) => path !== undefined && path !== "" && existsSync(path));
}

/** The built page; ends the program where there is none, or no browser to open it in. */
export function built() {
  if (!findChromium()) {
    console.log("*** SKIPPED: the browser test found no Chromium. Nothing of the page was tested in a browser.");
    console.log("*** Install one, or name one: CHROMIUM=/path/to/chromium npm run test:browser");
    process.exit(0);
  }
  const page = new URL("report.html", dist);
  if (!existsSync(page)) {
    console.error("dist/report.html is missing: npm run build");
    process.exit(1);
  }
  mkdirSync(shots, { recursive: true });
  return page;
}

/** Writes the page with this data inside. @param {string} name @param {unknown} data */
export function write(name, data) {
  const file = new URL(name, dist);
  writeFileSync(file, embed(readFileSync(built(), "utf8"), data));
  return pathToFileURL(file.pathname).href;
}

/** Where a screenshot goes. @param {string} name */
export const shot = (name) => new URL(`${name}.png`, shots).pathname;

/** @param {string} executablePath */
export const launch = (executablePath) =>
  // Nothing resolves but a program of this machine: a page that reaches out fails, whatever the machine's network is.
  chromium.launch({ executablePath, args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"] });

/**
 * @typedef {{ colorScheme?: "light" | "dark", width?: number, height?: number }} Screen
 * @param {import("playwright-core").Browser} browser
 * @param {string} url
 * @param {Screen} [screen]
 */
export async function open(browser, url, { colorScheme = "light", width = 1440, height = 900 } = {}) {
  const context = await browser.newContext({ offline: true, colorScheme, viewport: { width, height } });
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) complaints.push(`request for ${request.url()}`);
  });
  page.on("websocket", (socket) => complaints.push(`socket to ${socket.url()}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  await page.goto(url);
  await settle(page);
  return { page, complaints, close: () => context.close() };
}

/**
 * Waits for two frames: plots are drawn in the one after a change.
 * @param {import("playwright-core").Page} page
 */
export const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/**
 * Of each plot: its title, and its lines with their colours, their lengths in pixels and their points.
 * @param {import("playwright-core").Page} page
 */
export const plots = (page) =>
  page.locator(".panel:has(.plot)").evaluateAll((panels) =>
    panels.map((panel) => ({
      id: panel.id,
      title: panel.querySelector("h3")?.textContent ?? "",
      lines: [...panel.querySelectorAll("path[data-colour]")].map((element) => {
        const line = /** @type {SVGPathElement} */ (element);
        const d = line.getAttribute("d") ?? "";
        return { colour: Number(line.dataset.colour), length: d === "" ? 0 : line.getTotalLength(), points: (d.match(/[ML]/g) ?? []).length };
      }),
      levels: [...panel.querySelectorAll(".level text")].map((text) => (text.textContent ?? "").replaceAll("\u00a0", " ")),
    })),
  );

/**
 * Faults by axe-core's rules: rule and element. What passes is not described, which would take four times as long. A frame shows the report page,
 * which has its own tests.
 * @param {import("playwright-core").Page} page
 * @param {import("axe-core").RunOptions} [options]
 */
export async function faults(page, options) {
  await page.evaluate(axe.source);
  return page.evaluate(async (options) => {
    const { axe } = /** @type {{ axe: typeof import("axe-core") }} */ (/** @type {unknown} */ (window));
    const { violations } = await axe.run(document, { resultTypes: ["violations"], iframes: false, ...options });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
  }, options);
}

/**
 * Every text that is on the page, with the contrast to what is behind it (WCAG 2.2).
 * @param {import("playwright-core").Page} page
 */
export const legibility = (page) =>
  page.evaluate(() => {
    /** @param {string} css */
    const rgba = (css) => {
      const [r = 0, g = 0, b = 0, a = 1] = (css.match(/[\d.]+/g) ?? []).map(Number);
      return { r, g, b, a };
    };
    /** @param {{ r: number, g: number, b: number }} colour */
    const luminance = ({ r, g, b }) => {
      const [x = 0, y = 0, z = 0] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    /** @type {{ text: string, contrast: number, size: number }[]} */
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = (node.textContent ?? "").trim();
      const element = node.parentElement;
      if (text === "" || !element || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      if (element.closest("script, noscript, style, datalist")) continue;
      const style = getComputedStyle(element);
      /** @type {Element | null} */
      let behind = element;
      while (behind && rgba(getComputedStyle(behind).backgroundColor).a < 1) behind = behind.parentElement;
      const back = luminance(behind ? rgba(getComputedStyle(behind).backgroundColor) : { r: 255, g: 255, b: 255 });
      const front = luminance(rgba(element instanceof SVGElement ? style.fill : style.color));
      found.push({ text, contrast: (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05), size: Number.parseFloat(style.fontSize) });
    }
    return found;
  });

/**
 * A table as texts: its heads and its rows, thin spaces taken out of numbers.
 * @param {import("playwright-core").Page} page
 * @param {string} caption
 */
export const tableText = (page, caption) =>
  page.getByRole("region", { name: caption, exact: true }).evaluate((region) => {
    /** @param {Element} row */
    const texts = (row) => [...row.children].map((cell) => (cell.textContent ?? "").trim().replaceAll("\u2009", ""));
    return {
      heads: texts(/** @type {Element} */ (region.querySelector("thead tr:last-child"))),
      rows: [...region.querySelectorAll("tbody tr")].map(texts),
      sorted: [...region.querySelectorAll("[aria-sort]")].map((head) => `${head.textContent} ${head.getAttribute("aria-sort")}`),
    };
  });

/**
 * What stands beside the titles of a section's plots over time while the cursor is on them.
 * @param {import("playwright-core").Page} page
 */
export const readouts = (page, section = "#time") =>
  page.locator(`${section} .panel`).evaluateAll((panels) =>
    panels.map((panel) => ({
      title: panel.querySelector("h3")?.textContent ?? "",
      place: panel.querySelector(".readout .place")?.textContent ?? "",
      values: [...panel.querySelectorAll(".readout > span:not(.place)")].map((value) => value.textContent ?? ""),
    })),
  );
