import { useMemo, useState } from "preact/hooks";
import { distributions } from "../pictures.ts";
import type { Report } from "../report.ts";
import type { Sets } from "../sets.ts";
import type { Picture } from "../picture.ts";
import { View } from "../view.ts";
import { Choices } from "./Choices.tsx";
import { Legend } from "./Legend.tsx";
import { Plot } from "./Plot.tsx";
import { Section } from "./Section.tsx";
import { Split } from "./Split.tsx";

/** Distributions of delays, from below or as tails, and what the mean is made of. */
export function Delays({ report, sets: { flows } }: { report: Report; sets: Sets }) {
  const [tail, setTail] = useState(false);
  const pictures = useMemo(() => distributions(report, tail), [report, tail]);
  if (pictures.length === 0) return null;
  return (
    <Section id="delay" title="Delays">
      <Legend title="Flows" ensemble={flows} />
      <Choices label="Show" options={[["cdf", "distribution"], ["tail", "tail"]] as const} chosen={tail ? "tail" : "cdf"} change={(value) => setTail(value === "tail")} />
      <div class="columns">
        {pictures.map((picture) => (
          <Distribution key={picture.id} picture={picture} flows={flows} />
        ))}
      </div>
      <Split flows={report.flows} ensemble={flows} />
    </Section>
  );
}

/** Own axis of a distribution. */
function Distribution({ picture, flows }: { picture: Picture; flows: Sets["flows"] }) {
  const [least = 0, most = 1] = [picture.x[0], picture.x.at(-1)];
  const view = useMemo(() => new View([least, most]), [least, most]);
  return <Plot picture={picture} ensemble={flows} view={view} />;
}
