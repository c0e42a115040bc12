/** Writes sample reports beside the built page: `npm run sample`. */

import { readFileSync, writeFileSync } from "node:fs";
import { embed, sample } from "./sample.js";

const page = readFileSync("dist/report.html", "utf8");
for (const count of [3, 64]) {
  const path = `dist/sample-${count}.html`;
  writeFileSync(path, embed(page, sample(count)));
  console.log(path);
}
