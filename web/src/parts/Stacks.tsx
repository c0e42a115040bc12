import type { Stack } from "../pictures.ts";
import type { View } from "../view.ts";
import { Legend } from "./Legend.tsx";
import { Plot } from "./Plot.tsx";

/** Stacks of plots beside each other, each under its legend. */
export function Stacks({ stacks, view }: { stacks: Stack[]; view: View }) {
  return (
    <div class="columns">
      {stacks.map(({ title, ensemble, pictures }) => (
        <div key={title} class="column">
          <Legend title={title} ensemble={ensemble} />
          {pictures.map((picture) => (
            <Plot key={picture.id} picture={picture} ensemble={ensemble} view={view} />
          ))}
        </div>
      ))}
    </div>
  );
}

/** A stack whose plots stand in two columns under one legend. */
export function Wide({ stack: { title, ensemble, pictures }, view }: { stack: Stack; view: View }) {
  return (
    <>
      <Legend title={title} ensemble={ensemble} />
      <div class="columns">
        {pictures.map((picture) => (
          <Plot key={picture.id} picture={picture} ensemble={ensemble} view={view} />
        ))}
      </div>
    </>
  );
}
