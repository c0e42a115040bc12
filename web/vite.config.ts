import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/** A page may load nothing, whatever a scenario's text holds; that of a live cell hears what its server says. */
function sealed(policy: string): Plugin {
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

/** Puts the simulator's module, which SIMULATOR names, into the page of the playground. */
function simulator(): Plugin {
  const name = "virtual:simulator";
  return {
    name: "page-simulator",
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: (id) => (id === `\0${name}` ? `export default ${JSON.stringify(gzipSync(readFileSync(process.env.SIMULATOR ?? ""), { level: 9 }).toString("base64"))}` : undefined),
  };
}

interface Kind {
  input: string;
  output: string;
  policy: string;
}

const KINDS: Record<string, Kind> = {
  study: { input: "study.html", output: "study.html", policy: POLICY },
  live: { input: "live.html", output: "live.html", policy: `${POLICY}; connect-src 'self'` },
  stream: { input: "stream.html", output: "stream.html", policy: `${POLICY}; connect-src 'self'` },
  network: { input: "network.html", output: "network.html", policy: POLICY },
  playground: {
    input: "playground.html",
    output: "playground.html",
    policy: `${POLICY.replace("'unsafe-inline'", "'unsafe-inline' 'wasm-unsafe-eval' blob:")}; worker-src blob: data:; frame-src 'self'`,
  },
};
const REPORT: Kind = { input: "index.html", output: "report.html", policy: POLICY };

/** Builds the page of a run, by `--mode study` that of a study, by `--mode live` that of a live cell, by `--mode stream` that of a stream, by `--mode network` that of switches, by `--mode playground` the one that simulates. */
export default defineConfig(({ mode }) => {
  const { input, output, policy } = KINDS[mode] ?? REPORT;
  return {
    root: import.meta.dirname,
    plugins: [simulator(), viteSingleFile({ removeViteModuleLoader: true }), sealed(policy), licensed(`dist/${input}`, `dist/${output}`)],
    build: { target: "es2022", modulePreload: { polyfill: false }, emptyOutDir: output === REPORT.output, rollupOptions: { input } },
  };
});
