import { fragment, NOTHING } from "../link.ts";
import type { Report } from "../report.ts";
import { story } from "../story.ts";

/** Sentences on what happened, with links to the pictures. */
export function Story({ report }: { report: Report }) {
  const sentences = story(report);
  return (
    <ul class="story">
      {sentences.map(({ subject, rest, panel, flows = null, ues = null }) => (
        <li key={subject}>
          <a href={`#${fragment({ ...NOTHING, panel, flows, ues })}`}>{subject}</a>
          {rest}
        </li>
      ))}
    </ul>
  );
}
