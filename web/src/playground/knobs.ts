/** What people change first, and the overrides that it comes to. */

/** Choice among a few values; an empty one leaves the scenario as it is. */
export interface Choice {
  key: string;
  label: string;
  options: readonly string[];
}

/** Slider over a range of numbers. It leaves the scenario as it is until it is moved. */
export interface Slider {
  key: string;
  label: string;
  unit: string;
  /** Text between the number and the end of an override. */
  suffix: string;
  min: number;
  max: number;
  step: number;
}

export type Knob = Choice | Slider;

export const KNOBS: Knob[] = [
  { key: "marker.law", label: "law", options: ["", "none", "tide", "l4span", "step", "ramp", "dualpi2", "codel"] },
  { key: "cell.bandwidth_mhz", label: "bandwidth", options: ["", "10", "20", "40", "100"] },
  { key: "ue.*.channel.model", label: "channel", options: ["", "static", "pedestrian", "vehicular"] },
  { key: "ue.*.channel.snr_db", label: "SNR", unit: "dB", suffix: "", min: -5, max: 40, step: 1 },
  { key: "flow.*.round_trip", label: "round trip", unit: "ms", suffix: " ms", min: 0, max: 200, step: 2 },
  { key: "duration", label: "duration", unit: "s", suffix: " s", min: 5, max: 120, step: 5 },
  { key: "seed", label: "seed", unit: "", suffix: "", min: 1, max: 20, step: 1 },
];

/** Gives the value that overrides have for a key; nothing for none. */
export const valueOf = (set: readonly string[], key: string): string => set.findLast((one) => one.startsWith(`${key}=`))?.slice(key.length + 1) ?? "";

/** Gives overrides with another value for a key, or without the key. */
export const turned = (set: readonly string[], key: string, value: string): string[] => [...set.filter((one) => !one.startsWith(`${key}=`)), ...(value === "" ? [] : [`${key}=${value}`])];

/** Gives the command that does the same. */
export const command = (set: readonly string[]): string => ["tidemark run scenario.toml", ...set.map((one) => `--set '${one.replaceAll("'", "'\\''")}'`)].join(" ");
