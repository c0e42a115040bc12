import { useId } from "preact/hooks";

interface Props<T extends string> {
  label: string;
  options: readonly (readonly [T, string])[];
  chosen: T;
  change: (value: T) => void;
}

/** Choice of one of a few, as radio buttons that look like one switch. */
export function Choices<T extends string>({ label, options, chosen, change }: Props<T>) {
  const name = useId();
  return (
    <fieldset class="choices">
      <legend>{label}</legend>
      {options.map(([value, shown]) => (
        <label key={value}>
          <input type="radio" name={name} value={value} checked={value === chosen} onChange={() => change(value)} />
          <span>{shown}</span>
        </label>
      ))}
    </fieldset>
  );
}
