import { COLUMNS, nearestMarks } from "../marks.ts";
import type { Mark } from "../report.ts";
import type { View } from "../view.ts";

/** The marks nearest to the chosen moment with their reasons, at the foot of the window until they are closed. */
export function Marks({ marks, view }: { marks: () => Mark[]; view: View }) {
  const at = view.moment.value;
  if (at === null) return null;
  const near = nearestMarks(marks(), at);
  return (
    <aside id="marks" aria-labelledby="marks-title">
      <h3 id="marks-title">Why packets were marked at {at.toFixed(2)} s</h3>
      <button type="button" class="close" onClick={() => (view.moment.value = null)}>
        Close
      </button>
      {near.length === 0 ? <p class="absent">This run recorded no marks.</p> : <List marks={near} />}
    </aside>
  );
}

function List({ marks }: { marks: Mark[] }) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Marks and their reasons">
      <table>
        <thead>
          <tr>
            {COLUMNS.map(([heading, kind]) => (
              <th key={heading} scope="col" class={kind}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {marks.map((mark) => (
            <tr key={`${mark.flow} ${mark.packet} ${mark.t_s}`}>
              {COLUMNS.map(([heading, kind, value]) => (
                <td key={heading} class={kind}>
                  {value(mark)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
