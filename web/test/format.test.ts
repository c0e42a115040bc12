import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { count, figure, fixed, logSplits, logTick, percent, plain, withUnit } from "../src/format.ts";

/** A number as written, read back. */
const read = (written: string): number => Number(written.replaceAll("\u2009", "").replace("\u2212", "-"));

test("what was not measured is a dash, whatever the format", () => {
  for (const write of [count, figure, fixed(2), percent(1), plain]) expect(write(null)).toBe("–");
  expect(withUnit(figure(null), "ms")).toBe("–");
});

test("zero is a measurement", () => {
  expect([count(0), figure(0), fixed(1)(0), percent(1)(0), plain(0)]).toEqual(["0", "0", "0.0", "0.0", "0"]);
});

test("a unit keeps to its number", () => {
  expect(withUnit("12.3", "ms")).toBe("12.3\u00a0ms");
});

test.each([[7, "7"], [999, "999"], [1000, "1\u2009000"], [1234567, "1\u2009234\u2009567"], [-4321, "\u22124\u2009321"], [2.5, "3"]])("count %d", (value, written) => {
  expect(count(value)).toBe(written);
});

describe("figure", () => {
  test.each([
    [0.00012, "1.2e\u22124"],
    [0.00123, "0.00123"],
    [0.1234, "0.123"],
    [0.9999, "1.00"],
    [1.2345, "1.23"],
    [9.999, "10.0"],
    [12.34, "12.3"],
    [99.96, "100"],
    [999.6, "1\u2009000"],
    [1234.5, "1\u2009235"],
    [-12.34, "\u221212.3"],
  ])("%d", (value, written) => expect(figure(value)).toBe(written));

  test("is never off by more than half of its third digit", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 1e9, noNaN: true }), (value) => {
        expect(Math.abs(read(figure(value)) - value) / value).toBeLessThanOrEqual(0.005 + 1e-9);
      }),
    );
  });
});

test("fixed keeps its decimals, so that a column lines up", () => {
  expect([12.345, 1234.5, -0.25, 7].map(fixed(1))).toEqual(["12.3", "1\u2009234.5", "\u22120.3", "7.0"]);
  expect(fixed(0)(1e6)).toBe("1\u2009000\u2009000");
});

test("percent is a hundred times the share", () => {
  expect(percent(1)(0.9337)).toBe("93.4");
  expect(percent(0)(1)).toBe("100");
});

test.each([[20, "20"], [0.5, "0.5"], [1500, "1\u2009500"], [0.1 + 0.2, "0.3"], [-3, "\u22123"], [12345.678, "12\u2009345.7"]])("plain %d", (value, written) => {
  expect(plain(value)).toBe(written);
});

describe("a logarithmic axis", () => {
  test("has its grid at 1 to 9 times every power of ten", () => {
    expect(logSplits(0.5, 30)).toEqual([0.5, 0.6, 0.7, 0.8, 0.9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30]);
    expect(logSplits(11, 19)).toEqual([]);
  });

  test("has no place outside of its ends", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-3, max: 1e4, noNaN: true }), fc.double({ min: 1, max: 1e4, noNaN: true }), (min, ratio) => {
        const splits = logSplits(min, min * ratio);
        for (const split of splits) {
          expect(split).toBeGreaterThanOrEqual(min);
          expect(split).toBeLessThanOrEqual(min * ratio);
        }
        // Nine a decade, give or take the two decades that are cut.
        if (ratio >= 10) expect(splits.length).toBeGreaterThanOrEqual(9 * Math.floor(Math.log10(ratio)) - 1);
      }),
    );
  });

  test("writes fewer labels the more decades it has", () => {
    const labels = (decades: number): string => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((m) => logTick(m * 10, decades)).filter(Boolean).join(" ");
    expect(labels(1)).toBe("10 20 30 50 70");
    expect(labels(2)).toBe("10 30");
    expect(labels(5)).toBe("10");
    // 1e-3 is no exact power of ten in binary.
    expect(logTick(0.001, 5)).toBe("0.001");
  });
});
