import { readFileSync, renameSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/** The page may load nothing, whatever a scenario's text holds. */
const sealed: Plugin = {
  name: "report-sealed",
  apply: "build",
  transformIndexHtml: (html) => html.replace("<head>", `<head>\n    <meta http-equiv="Content-Security-Policy" content="${POLICY}" />`),
};

/** The page carries a copy of uPlot, whose licence goes where its copies go. */
const licensed: Plugin = {
  name: "report-licence",
  apply: "build",
  transformIndexHtml: (html) => html.replace("</html>", `<!-- Plots by uPlot:\n${readFileSync("node_modules/uplot/LICENSE", "utf8")}-->\n</html>`),
};

/** The page is named after what it is, once it is written. */
const named: Plugin = {
  name: "report-name",
  closeBundle: () => renameSync("dist/index.html", "dist/report.html"),
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), sealed, licensed, named],
  build: { target: "es2022", modulePreload: { polyfill: false }, emptyOutDir: true },
});
