/** The page of streams: plays them, or shows one that was recorded into it. */

import { render } from "preact";
import "./style.css";
import { play } from "./stream/play.tsx";
import { Recorded } from "./stream/Recorded.tsx";
import { startTheme } from "./theme.ts";

const main = document.getElementById("stream") as HTMLElement;
const recorded = document.getElementById("recorded")?.textContent ?? "";

startTheme();
main.replaceChildren();
if (recorded === "") void play(main);
else render(<Recorded {...JSON.parse(recorded)} />, main);
