/** The playground: the simulator in this page, without a server. */

import { render } from "preact";
import module from "virtual:simulator";
import { Engine } from "./playground/engine.ts";
import { Page } from "./playground/Page.tsx";
import "./style.css";
import "./playground/playground.css";
import { startTheme } from "./theme.ts";

const main = document.getElementById("playground") as HTMLElement;
startTheme();
const engine = await Engine.of(module);
main.replaceChildren();
render(<Page engine={engine} />, main);
