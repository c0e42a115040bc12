import { type Choice, KNOBS, type Slider, turned, valueOf } from "./knobs.ts";

interface Props {
  set: readonly string[];
  change: (set: string[]) => void;
}

/** The usual parameters: choices, and sliders. */
export function Knobs({ set, change }: Props) {
  return (
    <div class="knobs">
      {KNOBS.map((knob) => {
        const props = { value: valueOf(set, knob.key), turn: (value: string) => change(turned(set, knob.key, value)) };
        return "options" in knob ? <Chosen key={knob.key} knob={knob} {...props} /> : <Slid key={knob.key} knob={knob} {...props} />;
      })}
    </div>
  );
}

interface Turned<Knob> {
  knob: Knob;
  /** Value of the override; empty without one. */
  value: string;
  turn: (value: string) => void;
}

function Chosen({ knob: { label, options }, value, turn }: Turned<Choice>) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => turn(currentTarget.value)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {option === "" ? "as in the scenario" : option}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Slider that stands in the middle until it is moved, and a button that takes its override back. */
function Slid({ knob: { label, unit, suffix, min, max, step }, value, turn }: Turned<Slider>) {
  const isSet = value !== "";
  const number = Number.parseFloat(value);
  const said = isSet ? `${number} ${unit}`.trim() : "as in the scenario";
  return (
    <div class="knob">
      <label>
        {label}
        <input type="range" min={min} max={max} step={step} value={isSet ? number : (min + max) / 2} aria-valuetext={said} onInput={({ currentTarget }) => turn(currentTarget.value + suffix)} />
      </label>
      <output>{said}</output>
      {isSet && (
        <button type="button" aria-label={`${label} as in the scenario`} onClick={() => turn("")}>
          ×
        </button>
      )}
    </div>
  );
}
