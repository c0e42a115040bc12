/** The page of a transport network, which `tidemark-sdn` fills: its switches and links, and its queues over time. */

import { render } from "preact";
import { Ensemble } from "./ensemble.ts";
import { Wide } from "./parts/Stacks.tsx";
import { type Network, Switches } from "./parts/Switches.tsx";
import type { Picture } from "./picture.ts";
import type { Rows } from "./read.ts";
import "./style.css";
import { startTheme } from "./theme.ts";
import { View } from "./view.ts";

/** What `sdn/tidemark_sdn/panels.py` writes: a row for each queue in every picture. */
interface Panels {
  queues: string[];
  pictures: { title: string; unit: string; t_s: number[]; rows: Rows }[];
  /** Null where a page has no drawing of the network. */
  topology: Network | null;
}

startTheme();
const { queues, pictures, topology } = JSON.parse(document.getElementById("panels")?.textContent ?? "") as Panels;
const ring = document.getElementById("topology");
if (ring !== null && topology !== null) render(<Switches {...topology} />, ring);
const place = document.getElementById("plots");
if (place !== null && pictures.length > 0) {
  const until = Math.max(...pictures.map(({ t_s }) => t_s.at(-1) ?? 0));
  const drawn = pictures.map(
    ({ title, unit, t_s, rows }, index): Picture => ({ id: `picture-${index}`, title, yLabel: unit, xLabel: "time (s)", x: t_s, rows, place: (t) => `${t.toFixed(2)} s` }),
  );
  render(<Wide stack={{ title: "Queues", ensemble: new Ensemble("queue", queues, [], [0]), pictures: drawn }} view={new View([0, until])} />, place);
}
