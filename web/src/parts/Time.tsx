import type { View } from "../view.ts";

/** Slider for the shown moment, which is the cursor's in the plots. */
export function Time({ times, at, view }: { times: number[]; at: number; view: View }) {
  return (
    <label>
      Time{" "}
      <input
        type="range"
        min={0}
        max={times.length - 1}
        value={at}
        aria-valuetext={`${(times[at] ?? 0).toFixed(2)} s`}
        onInput={(event) => (view.cursor.value = times[Number(event.currentTarget.value)] ?? null)}
      />
    </label>
  );
}
