import { COLOURS } from "../ensemble.ts";
import { shapeOf } from "../shapes.ts";
import type { Entry } from "../take.tsx";
import { DASHES } from "../theme.ts";

/** Mark of a line in a legend, 20 pixels wide: the line in its colour, with its marker where that means something. */
export function Key({ colour, shape }: Entry) {
  const stroke = colour === null ? "var(--muted)" : `var(--series-${colour % COLOURS})`;
  const dash = shape === undefined ? DASHES[colour ?? 0]?.join(" ") : shapeOf(shape).dash;
  return (
    <>
      {colour !== null && <line x2={20} stroke={stroke} stroke-width={2} stroke-dasharray={dash} />}
      {shape !== undefined && <path transform="translate(10,0)" d={shapeOf(shape).path} fill={stroke} />}
    </>
  );
}
