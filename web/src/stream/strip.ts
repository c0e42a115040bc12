/** Strip at the top of a picture: number and time of the frame in black and white cells, as crates/stream/src/strip.rs draws them. */

const COLUMNS = 32;
const ROWS = 2;
/** Part of the picture's height that a row has. */
const OF_HEIGHT = 18;
/** Green above which a cell is white. */
const GREY = 125;

export interface Strip {
  frame: number;
  /** Time of drawing in units of 100 us since 1970, modulo 2^32. */
  time: number;
}

/** Remainder of bytes by x^8 + x^2 + x + 1, inverted. */
const check = (bytes: number[]): number =>
  ~bytes.reduce((crc, byte) => {
    let rest = crc ^ byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 0x80 ? (rest << 1) ^ 0x107 : rest << 1;
    return rest;
  }, 0) & 0xff;

/** Reads the strip of a picture in RGBA; null where there is none. */
export function readStrip(pixels: ArrayLike<number>, width: number, height: number): Strip | null {
  const cell = Math.floor(width / COLUMNS);
  const row = Math.floor(height / OF_HEIGHT);
  const bytes = new Array<number>(8).fill(0);
  for (let index = 0; index < COLUMNS * ROWS; index++) {
    const x = (index % COLUMNS) * cell + (cell >> 1);
    const y = Math.floor(index / COLUMNS) * row + (row >> 1);
    if ((pixels[4 * (y * width + x) + 1] ?? 0) > GREY) bytes[index >> 3] = (bytes[index >> 3] ?? 0) | (0x80 >> (index & 7));
  }
  const [a = 0, b = 0, c = 0, checked, ...time] = bytes;
  if (check([a, b, c, 0, ...time]) !== checked) return null;
  return { frame: (a << 16) | (b << 8) | c, time: time.reduce((sum, byte) => sum * 256 + byte, 0) };
}

/** Time in ms from the drawing of a frame to `shown`, in ms since 1970. A clock that is ahead gives a negative delay. */
export function delayOf({ time }: Strip, shown: number): number {
  const units = Math.round(10 * shown) - time;
  return (((((units % 2 ** 32) + 2 ** 32 + 2 ** 31) % 2 ** 32) - 2 ** 31) / 10);
}
