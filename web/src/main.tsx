/** The report: reads the run in the page and draws it. */

import { render } from "preact";
import { Page } from "./parts/Page.tsx";
import { DataError, parse } from "./report.ts";
import "./style.css";
import { startTheme } from "./theme.ts";

const main = document.getElementById("report") as HTMLElement;
startTheme();
main.replaceChildren();
try {
  const report = parse(document.getElementById("tidemark-data")?.textContent ?? "");
  document.title = `${report.name || "run"} – Tidemark`;
  render(<Page report={report} />, main);
} catch (error) {
  if (!(error instanceof DataError)) throw error;
  render(
    <>
      <h1>Tidemark report</h1>
      <p class="failure" role="alert">
        {error.message}
      </p>
    </>,
    main,
  );
}
