/** Small grey pictures, which the server compares with those that it sent. */

/** Width and height, as crates/stream/src/ssim.rs has them. */
const COLUMNS = 160;
const ROWS = 90;

/** Luma of a picture in RGBA (ITU-R BT.601, 16 to 235), scaled down: each pixel is the mean of those that it covers. */
export function scaledLuma(pixels: ArrayLike<number>, width: number, height: number): number[] {
  const scaled: number[] = [];
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      let [sum, count] = [0, 0];
      for (let y = Math.floor((row * height) / ROWS); y < Math.floor(((row + 1) * height) / ROWS); y++) {
        for (let x = Math.floor((column * width) / COLUMNS); x < Math.floor(((column + 1) * width) / COLUMNS); x++) {
          const at = 4 * (y * width + x);
          sum += 65.738 * (pixels[at] ?? 0) + 129.057 * (pixels[at + 1] ?? 0) + 25.064 * (pixels[at + 2] ?? 0);
          count += 1;
        }
      }
      scaled.push(16 + Math.round(sum / 256 / Math.max(1, count)));
    }
  }
  return scaled;
}
