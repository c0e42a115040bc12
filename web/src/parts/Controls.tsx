import { useEffect, useState } from "preact/hooks";
import { assignment, type Controlled, type Dial, type Send, type Setting } from "../controls.ts";
import { Section } from "./Section.tsx";
import { Select } from "./Select.tsx";

/** What was sent last, and its answer. */
interface Sent {
  words: string[];
  isRefused: boolean;
  text: string;
}

/** Controls of one UE at a time, and the answer to the last command. */
export function Controls({ controlled, send }: { controlled: Controlled; send: Send }) {
  const [index, setIndex] = useState(0);
  const [sent, setSent] = useState<Sent | null>(null);
  const ue = controlled.ues[index];
  if (!ue) return null;
  const command = async (words: string[]): Promise<boolean> => {
    const answer = await send(words);
    setSent({ words, ...answer });
    return !answer.isRefused;
  };
  return (
    <Section id="controls" title="Controls">
      {controlled.ues.length > 1 && (
        <Select label="UE" options={controlled.ues.map(({ name }, at) => [String(at), name])} chosen={String(index)} change={(chosen) => setIndex(Number(chosen))} />
      )}
      <div class="settings" key={ue.name}>
        {ue.settings.map((setting) => (
          <Kinds key={setting.name} setting={setting} command={command} />
        ))}
        <Radio ue={ue.name} command={command} />
      </div>
      <output class="answer">{sent && <Outcome {...sent} />}</output>
    </Section>
  );
}

type Command = (words: string[]) => Promise<boolean>;

/** Choice of a setting's kind, and the parameters of the current one. */
function Kinds({ setting, command }: { setting: Setting; command: Command }) {
  const { name, key, kind, kinds, dials } = setting;
  return (
    <fieldset class="setting">
      <legend>{name}</legend>
      <select aria-label={name} value={kind} onChange={(event) => command(assignment(setting, key, event.currentTarget.value))}>
        {kinds.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      {dials.map((dial) => (
        <Slider key={dial.key} dial={dial} turn={(value) => command(assignment(setting, dial.key, value))} />
      ))}
    </fieldset>
  );
}

/** Input for a number, by a slider or by its digits. It shows the new value until the cell reports the current one. */
function Slider({ dial: { name, unit, suffix, value, min, max, step }, turn }: { dial: Dial; turn: (value: string) => Promise<boolean> }) {
  const [draft, setDraft] = useState<string | null>(null);
  useEffect(() => setDraft(null), [value]);
  const input = {
    value: draft ?? String(value),
    min,
    max,
    onInput: (event: { currentTarget: HTMLInputElement }) => setDraft(event.currentTarget.value),
    onChange: async ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
      const isTaken = currentTarget.value !== "" && (await turn(currentTarget.value + suffix));
      if (!isTaken) setDraft(null);
    },
  };
  return (
    <div class="dial">
      <label>
        <code>{name}</code>
        <input type="range" step={step} {...input} />
      </label>
      <input type="number" step="any" aria-label={`${name} in ${unit}`} {...input} />
      {unit}
    </div>
  );
}

/** Events on the radio: an outage of some length, and a handover. */
function Radio({ ue, command }: { ue: string; command: Command }) {
  const [length, setLength] = useState("500");
  return (
    <fieldset class="setting">
      <legend>Radio</legend>
      <button type="button" onClick={() => command(["outage", ue, `${length} ms`])}>
        Outage
      </button>
      <label>
        of <input type="number" aria-label="Length in ms" min={1} value={length} onInput={(event) => setLength(event.currentTarget.value)} /> ms
      </label>
      <button type="button" onClick={() => command(["handover", ue])}>
        Handover
      </button>
    </fieldset>
  );
}

function Outcome({ words, isRefused, text }: Sent) {
  return (
    <p class={isRefused ? "warning" : "note"}>
      <code>tidemark ctl {words.map((word) => (word.includes(" ") ? `'${word}'` : word)).join(" ")}</code>: {isRefused ? "refused: " : ""}
      {text || "done"}
    </p>
  );
}
