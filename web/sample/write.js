/** Writes sample reports beside the built page: `npm run sample`. */

import { readFileSync, writeFileSync } from "node:fs";
import { embed, network, routed, sample, uploads, video } from "./sample.js";

const page = readFileSync("dist/report.html", "utf8");
for (const [name, run] of [["3", sample(3)], ["64", sample(64)], ["uploads", uploads()], ["network", network(21)], ["routed", routed()], ["video", video()]]) {
  const path = `dist/sample-${name}.html`;
  writeFileSync(path, embed(page, run));
  console.log(path);
}
