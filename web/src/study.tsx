/** The page of a study: reads its points in the page and draws them. */

import { render } from "preact";
import type { StudyPage } from "./study/fields.ts";
import { Page } from "./study/Page.tsx";
import { Study } from "./study/study.ts";
import "./style.css";
import { startTheme } from "./theme.ts";

const main = document.getElementById("study") as HTMLElement;
startTheme();
main.replaceChildren();
const data = JSON.parse(document.getElementById("tidemark-data")?.textContent ?? "") as StudyPage;
document.title = `${data.name} – Tidemark`;
render(<Page study={new Study(data)} />, main);
