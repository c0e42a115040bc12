/** Colours, as data: a test holds them to contrast and to the three kinds of colour blindness. */

export interface Palette {
  /** Page and panels. */
  ground: string;
  /** Heads of tables and tracks of bars. */
  raised: string;
  text: string;
  /** Labels, ticks, notes. */
  muted: string;
  rule: string;
  grid: string;
  accent: string;
  /** Lines and bars, in the order of their use. */
  series: [string, string, string, string, string, string];
}

export const PALETTES: { light: Palette; dark: Palette } = {
  light: {
    ground: "#ffffff",
    raised: "#f4f6f8",
    text: "#1b2128",
    muted: "#5a6570",
    rule: "#d5dbe1",
    grid: "#e9edf0",
    accent: "#1f5fa8",
    series: ["#323fa5", "#b73713", "#22987f", "#782f5e", "#ae820b", "#8f69e0"],
  },
  dark: {
    ground: "#14181c",
    raised: "#1d2329",
    text: "#e4e8ec",
    muted: "#9aa5b1",
    rule: "#353d46",
    grid: "#242b32",
    accent: "#8fb8f9",
    series: ["#8bb8fa", "#e2a469", "#00f0d4", "#e45b96", "#e9d843", "#987fe8"],
  },
};

/** Dashes tell lines apart where colour does not: a print in grey, six lines on one plot. */
export const DASHES: number[][] = [[], [], [], [7, 3], [7, 3], [2, 3]];

export type Choice = "auto" | "light" | "dark";

const KEY = "tidemark-theme";
const system = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: dark)") : null;
let choice: Choice = "auto";
let printing = false;

/** The palette in use: paper is white, whatever the screen is. */
export function palette(): Palette {
  const dark = !printing && (choice === "auto" ? (system?.matches ?? false) : choice === "dark");
  return PALETTES[dark ? "dark" : "light"];
}

/** Text with the page's colours in place of their variables, for a picture that is saved. */
export function coloured(text: string, { series, ...rest }: Palette): string {
  return text.replace(/var\(--([a-z]+)(?:-(\d))?\)/g, (whole, name: string, index?: string) => (index === undefined ? rest[name as keyof typeof rest] : series[Number(index)]) ?? whole);
}

export function currentChoice(): Choice {
  return choice;
}

export function choose(next: Choice): void {
  choice = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A browser may refuse storage to file: pages; the choice then lasts as long as the page.
  }
  apply();
}

/** Sets the page's colours and keeps them in step with the system and the printer. */
export function startTheme(): void {
  try {
    const stored = localStorage.getItem(KEY);
    if (stored === "light" || stored === "dark") choice = stored;
  } catch {
    // See `choose`.
  }
  system?.addEventListener("change", apply);
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  apply();
}

function print(now: boolean): void {
  printing = now;
  apply();
}

function apply(): void {
  const colours = palette();
  const root = document.documentElement;
  const { series, ...rest } = colours;
  for (const [name, value] of Object.entries(rest)) root.style.setProperty(`--${name}`, value);
  series.forEach((value, index) => root.style.setProperty(`--series-${index}`, value));
  root.style.colorScheme = colours === PALETTES.dark ? "dark" : "light";
}
