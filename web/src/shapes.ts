/** Markers with their dashes, for pictures in which colour means something else. */

import { symbol, symbolCircle, symbolDiamond, symbolSquare, symbolStar, symbolTriangle } from "d3-shape";

/** Area of a marker, in square pixels. */
const AREA = 58;

const marker = (type: typeof symbolCircle): string => symbol(type, AREA).digits(2)() ?? "";

export const SHAPES = [
  { path: marker(symbolCircle), dash: "" },
  { path: marker(symbolSquare), dash: "7 3" },
  { path: marker(symbolTriangle), dash: "2 3" },
  { path: marker(symbolDiamond), dash: "9 3 2 3" },
  { path: marker(symbolStar), dash: "12 4" },
] as const;

export const shapeOf = (index: number) => SHAPES[index % SHAPES.length] ?? SHAPES[0];
