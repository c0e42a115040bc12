interface Props {
  label: string;
  options: readonly (readonly [value: string, shown: string])[];
  chosen: string;
  change: (value: string) => void;
}

/** Choice of one of many, as a list that opens. */
export function Select({ label, options, chosen, change }: Props) {
  return (
    <label class="field">
      {label}
      <select value={chosen} onChange={(event) => change(event.currentTarget.value)}>
        {options.map(([value, shown]) => (
          <option key={value} value={value}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}
