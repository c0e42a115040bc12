/** What people change first, and the overrides that it comes to. */

export interface Knob {
  key: string;
  label: string;
  options: readonly string[];
}

/** An empty option leaves the scenario as it stands. */
export const KNOBS: Knob[] = [
  { key: "marker.law", label: "law", options: ["", "none", "tide", "l4span", "step", "ramp", "dualpi2", "codel"] },
  { key: "cell.bandwidth_mhz", label: "bandwidth", options: ["", "10", "20", "40", "100"] },
  { key: "ue.*.channel.model", label: "channel", options: ["", "static", "pedestrian", "vehicular"] },
  { key: "ue.*.channel.snr_db", label: "SNR in dB", options: ["", "5", "10", "15", "20", "25"] },
  { key: "flow.*.round_trip", label: "round trip", options: ["", "10 ms", "20 ms", "40 ms", "100 ms"] },
  { key: "duration", label: "duration", options: ["", "10 s", "30 s", "60 s"] },
  { key: "seed", label: "seed", options: ["", "1", "2", "3", "4", "5"] },
];

/** Gives the value that overrides have for a key; nothing for none. */
export const valueOf = (set: readonly string[], key: string): string => set.findLast((one) => one.startsWith(`${key}=`))?.slice(key.length + 1) ?? "";

/** Gives overrides with another value for a key, or without the key. */
export const turned = (set: readonly string[], key: string, value: string): string[] => [...set.filter((one) => !one.startsWith(`${key}=`)), ...(value === "" ? [] : [`${key}=${value}`])];

/** Gives the command that does the same. */
export const command = (set: readonly string[]): string => ["tidemark run scenario.toml", ...set.map((one) => `--set '${one.replaceAll("'", "'\\''")}'`)].join(" ");
