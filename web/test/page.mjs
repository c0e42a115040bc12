/** What the browser test sees of a page: its requests and complaints, its ink, its text. */

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

/** @returns {string | undefined} */
export function findChromium() {
  const known = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  return known.find((path) => path !== undefined && path !== "" && existsSync(path));
}

/** @param {string} executablePath */
export const launch = (executablePath) =>
  // Nothing resolves: a page that reaches out fails, whatever the machine's network is.
  chromium.launch({ executablePath, args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND"] });

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
 * Of each plot: its title, its legend's colours, and how many pixels are near each of them.
 * @param {import("playwright-core").Page} page
 */
export const ink = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".panel")].map((panel) => {
      const canvas = panel.querySelector("canvas");
      const title = panel.querySelector("h3")?.textContent ?? "";
      if (!canvas || canvas.width === 0 || canvas.height === 0) return { title, drawn: 0, lines: [] };
      const copy = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true }));
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      // A legend stands in the column of its plots, or once above both distributions.
      const legend = panel.closest(".column")?.querySelector(".legend") ?? panel.closest("section")?.querySelector(".legend");
      const swatches = [...(legend?.querySelectorAll(".entries .swatch[data-colour]") ?? [])];
      const style = getComputedStyle(document.documentElement);
      const lines = swatches.map((swatch) => {
        const colour = style.getPropertyValue(`--series-${swatch.getAttribute("data-colour")}`);
        const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
        let pixels = 0;
        for (let i = 0; i < data.length; i += 4) {
          const off = Math.abs((data[i] ?? 0) - (r ?? 0)) + Math.abs((data[i + 1] ?? 0) - (g ?? 0)) + Math.abs((data[i + 2] ?? 0) - (b ?? 0));
          if ((data[i + 3] ?? 0) > 200 && off < 30) pixels++;
        }
        return { name: swatch.parentElement?.textContent ?? "", colour, pixels };
      });
      let drawn = 0;
      for (let i = 3; i < data.length; i += 4) if (data[i] !== 0) drawn++;
      return { title, drawn, lines };
    }),
  );

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
      if (element.closest("script, noscript")) continue;
      const style = getComputedStyle(element);
      /** @type {Element | null} */
      let behind = element;
      while (behind && rgba(getComputedStyle(behind).backgroundColor).a < 1) behind = behind.parentElement;
      const back = luminance(behind ? rgba(getComputedStyle(behind).backgroundColor) : { r: 255, g: 255, b: 255 });
      const front = luminance(rgba(style.color));
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
 * What stands beside the titles of the plots over time while the cursor is on them.
 * @param {import("playwright-core").Page} page
 */
export const readouts = (page) =>
  page.locator("#time .panel").evaluateAll((panels) =>
    panels.map((panel) => ({
      title: panel.querySelector("h3")?.textContent ?? "",
      place: panel.querySelector(".readout .place")?.textContent ?? "",
      values: [...panel.querySelectorAll(".readout > span:not(.place)")].map((value) => value.textContent ?? ""),
    })),
  );
