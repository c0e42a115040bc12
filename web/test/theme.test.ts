import { describe, expect, test } from "vitest";
import { coloured, DASHES, PALETTES, palette } from "../src/theme.ts";

type Triple = [number, number, number];

const channels = (hex: string): Triple => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as Triple;
/** Light of each channel (IEC 61966-2-1). */
const linear = (hex: string): Triple => channels(hex).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as Triple;

/** Contrast ratio (WCAG 2.2, "contrast ratio" and "relative luminance"). */
function contrast(a: string, b: string): number {
  const luminance = (hex: string): number => {
    const [r, g, b] = linear(hex);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Complete colour blindness on linear light: Machado, Oliveira and Fernandes 2009, severity 1. */
const VISIONS: Record<string, [Triple, Triple, Triple]> = {
  "full colour vision": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

const times = (matrix: [Triple, Triple, Triple], [x, y, z]: Triple): Triple => matrix.map(([a, b, c]) => a * x + b * y + c * z) as Triple;

/** Oklab (Ottosson 2020), in which equal distances look about equally far; here black to white is 100. */
function oklab(light: Triple): Triple {
  const cones = times([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], light);
  const [l, m, s] = cones.map(Math.cbrt) as Triple;
  return times([[21.04542553, 79.3617785, -0.40720468], [197.79984951, -242.8592205, 45.05937099], [2.59040371, 78.27717662, -80.8675766]], [l, m, s]);
}

function difference(a: string, b: string, vision: string): number {
  const matrix = VISIONS[vision] as [Triple, Triple, Triple];
  const seen = (hex: string): Triple => oklab(times(matrix, linear(hex)).map((c) => Math.min(1, Math.max(0, c))) as Triple);
  const [x, y] = [seen(a), seen(b)];
  return Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

test("the yardsticks measure what they should", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 9);
  // The darkest grey that still passes on white is a well-known one.
  expect(contrast("#767676", "#ffffff")).toBeCloseTo(4.54, 2);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
  expect(difference("#000000", "#ffffff", "full colour vision")).toBeCloseTo(100, 3);
  // Grey is grey to everybody; a red and a green that only differ in hue are one to the red-green blind.
  for (const vision of Object.keys(VISIONS)) expect(difference("#808080", "#909090", vision)).toBeCloseTo(difference("#808080", "#909090", "full colour vision"), 0);
  expect(difference("#c04040", "#748028", "full colour vision")).toBeGreaterThan(20);
  expect(difference("#c04040", "#748028", "deuteranopia")).toBeLessThan(10);
});

describe.each(Object.entries(PALETTES))("%s", (_, colours) => {
  const { ground, raised, text, muted, accent, series, rule, grid } = colours;

  test.each(["text", "muted", "accent"] as const)("%s can be read on page and heads (WCAG 1.4.3)", (name) => {
    expect(contrast({ text, muted, accent }[name], ground)).toBeGreaterThanOrEqual(4.5);
    expect(contrast({ text, muted, accent }[name], raised)).toBeGreaterThanOrEqual(4.5);
  });

  test.each(series.map((colour, index) => [index, colour] as const))("series %d, %s, stands out from plots, the warm-up's shade and tracks (WCAG 1.4.11)", (_, colour) => {
    expect(contrast(colour, ground)).toBeGreaterThanOrEqual(3);
    expect(contrast(colour, raised)).toBeGreaterThanOrEqual(3);
  });

  test("the grid is there, and quieter than the rules, which are quieter than any line", () => {
    expect(contrast(grid, ground)).toBeGreaterThan(1.1);
    expect(contrast(rule, ground)).toBeGreaterThan(contrast(grid, ground));
    expect(contrast(rule, ground)).toBeLessThan(Math.min(...series.map((colour) => contrast(colour, ground))));
  });

  describe.each(Object.keys(VISIONS))("with %s", (vision) => {
    test("lines differ in colour, most of all where the dash does not help", () => {
      series.forEach((a, i) =>
        series.slice(0, i).forEach((b, j) => {
          const sameDash = String(DASHES[i]) === String(DASHES[j]);
          expect(difference(a, b, vision), `${a} and ${b}`).toBeGreaterThanOrEqual(sameDash ? 12 : 10);
        }),
      );
    });

    test("neighbouring parts of a delay bar differ", () => {
      const bar = [muted, series[1], series[0], series[2]];
      bar.slice(1).forEach((colour, i) => expect(difference(bar[i] as string, colour, vision), `${bar[i]} and ${colour}`).toBeGreaterThanOrEqual(9));
    });
  });
});

test("no more than three lines share a dash", () => {
  const uses = new Map<string, number>();
  for (const dash of DASHES) uses.set(String(dash), (uses.get(String(dash)) ?? 0) + 1);
  expect(Math.max(...uses.values())).toBeLessThanOrEqual(3);
  expect(DASHES).toHaveLength(PALETTES.light.series.length);
});

test("a picture that leaves the page has the colours themselves", () => {
  const { text, series } = PALETTES.light;
  expect(coloured('fill="var(--text)" stroke="var(--series-5)" d="var(--unknown)"', PALETTES.light)).toBe(`fill="${text}" stroke="${series[5]}" d="var(--unknown)"`);
});

test("without a screen the palette is light", () => {
  expect(palette()).toBe(PALETTES.light);
});
