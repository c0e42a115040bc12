import { expect, test } from "vitest";
import { delayOf, readStrip } from "../src/stream/strip.ts";

/** Picture whose strip has these bytes; everything else is grey. */
function picture(bytes: number[], width: number, height: number): Uint8ClampedArray {
  const pixels = new Uint8ClampedArray(4 * width * height).fill(90);
  const [cell, row] = [Math.floor(width / 32), Math.floor(height / 18)];
  for (let y = 0; y < 2 * row; y++) {
    for (let x = 0; x < 32 * cell; x++) {
      const index = Math.floor(y / row) * 32 + Math.floor(x / cell);
      pixels[4 * (y * width + x) + 1] = ((bytes[index >> 3] ?? 0) >> (7 - (index & 7))) & 1 ? 235 : 16;
    }
  }
  return pixels;
}

// Frame 0xabcdef of the time 0xfedcba98; the check is that of crates/stream/src/strip.rs.
const BYTES = [0xab, 0xcd, 0xef, 0x23, 0xfe, 0xdc, 0xba, 0x98];

test("a strip is read at every size, and one with a wrong bit is none", () => {
  for (const [width, height] of [[1280, 720], [640, 360], [320, 180]] as const) {
    expect(readStrip(picture(BYTES, width, height), width, height)).toEqual({ frame: 0xabcdef, time: 0xfedcba98 });
    expect(readStrip(picture(BYTES.with(5, 0xdd), width, height), width, height)).toBeNull();
  }
  expect(readStrip(new Uint8ClampedArray(4 * 320 * 180), 320, 180)).toBeNull();
});

test("a delay is right where the time of drawing begins anew, and below nought for a clock that is ahead", () => {
  const shown = 1_700_000_000_000;
  const drawn = (before: number) => ({ frame: 1, time: (10 * (shown - before)) % 2 ** 32 });
  expect([0, 42.5, 1_000, -3].map((before) => delayOf(drawn(before), shown))).toEqual([0, 42.5, 1_000, -3]);
  const turn = 2 ** 32 / 10;
  expect(delayOf({ frame: 1, time: 2 ** 32 - 50 }, 400_000 * turn + 5)).toBeCloseTo(10, 6);
});
