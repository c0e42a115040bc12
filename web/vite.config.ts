import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/** A page may load nothing, whatever a scenario's text holds; that of a live cell hears what its server says. */
function sealed(isLive: boolean): Plugin {
  const policy = isLive ? `${POLICY}; connect-src 'self'` : POLICY;
  return {
    name: "page-sealed",
    apply: "build",
    transformIndexHtml: (html) => html.replace("<head>", `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`),
  };
}

/** The page carries copies of libraries, whose licences go where the copies go, and is named after what it is. */
function licensed(from: string, to: string): Plugin {
  const packages = new Set<string>();
  return {
    name: "page-licences",
    apply: "build",
    generateBundle(_, bundle) {
      for (const id of Object.values(bundle).flatMap((part) => ("modules" in part ? Object.keys(part.modules) : []))) {
        const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0];
        if (folder !== undefined) packages.add(folder);
      }
    },
    closeBundle() {
      const licences = [...packages].sort().map((folder) => `${folder.replace(/^.*node_modules\//, "")}:\n${readFileSync(`${folder}/LICENSE`, "utf8")}`);
      // A comment may not hold two hyphens.
      const html = readFileSync(from, "utf8").replace("</html>", () => `<!-- Libraries inside:\n${licences.join("\n").replaceAll("--", "- -")}-->\n</html>`);
      rmSync(from);
      writeFileSync(to, html);
    },
  };
}

/** Builds the page of a run, or by `--mode live` that of a live cell. */
export default defineConfig(({ mode }) => {
  const isLive = mode === "live";
  const input = isLive ? "live.html" : "index.html";
  return {
    root: import.meta.dirname,
    plugins: [viteSingleFile({ removeViteModuleLoader: true }), sealed(isLive), licensed(`dist/${input}`, isLive ? "dist/live.html" : "dist/report.html")],
    build: { target: "es2022", modulePreload: { polyfill: false }, emptyOutDir: !isLive, rollupOptions: { input } },
  };
});
