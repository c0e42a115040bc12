import { renameSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

/** The page is named after what it is, once it is written. */
const named: Plugin = {
  name: "report-name",
  closeBundle: () => renameSync("dist/index.html", "dist/report.html"),
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), named],
  build: { target: "es2022", modulePreload: { polyfill: false }, emptyOutDir: true },
});
