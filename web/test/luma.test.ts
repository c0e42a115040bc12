import { expect, test } from "vitest";
import { scaledLuma } from "../src/stream/luma.ts";

test("luma is that of BT.601, and each pixel the mean of those that it covers", () => {
  const [width, height] = [320, 180];
  const pixels = new Uint8ClampedArray(4 * width * height);
  for (let at = 0; at < width * height; at++) {
    const [x, isLower] = [at % width, at >= (width * height) / 2];
    pixels.set(isLower ? [255, 255, 255, 255] : x % 2 === 0 ? [255, 0, 0, 255] : [0, 0, 0, 255], 4 * at);
  }
  const luma = scaledLuma(pixels, width, height);
  expect(luma).toHaveLength(160 * 90);
  // Red has 81 of 16 to 235, so that half of it has 49 with black.
  expect([luma[0], luma[159], luma.at(-1)]).toEqual([49, 49, 235]);
});
