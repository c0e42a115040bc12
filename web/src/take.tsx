/** Saved forms of a picture: a drawing as wide as a column of a paper, or its data. */

import { csvFormatRows } from "d3-dsv";
import { render, type VNode } from "preact";
import type { Ensemble } from "./ensemble.ts";
import { Key } from "./parts/Key.tsx";
import { coloured, PALETTES } from "./theme.ts";

/** Column of a paper in two columns: 3.5 inches of 96 CSS pixels. */
export const COLUMN = 336;
const INCHES = 3.5;
/** Dots for each pixel: 600 an inch. */
const DOTS = 6.25;
/** Height of a plot, of its title and of a line of the legend, in pixels. */
const [PLOT, TITLE, ENTRY] = [190, 16, 13];

const STYLE = `text { font: 9px Helvetica, Arial, sans-serif; fill: #1b2128 } .title { font-weight: bold; font-size: 10px }
.axis line { stroke: ${PALETTES.light.grid} } .axis .domain { stroke: ${PALETTES.light.rule} } .label, .axis text { fill: ${PALETTES.light.muted} }`;

/** Entry of a legend: text, index of its colour in the palette, and index of its marker if that has a meaning of its own. */
export interface Entry {
  name: string;
  /** Null if only the marker is meant. */
  colour: number | null;
  shape?: number;
}

export function entriesOf(ensemble: Ensemble): Entry[] {
  const { groups, picked, names } = ensemble;
  const ofGroups = groups.map(({ name, colour }) => ({ name: `${name}: median and 10–90 %`, colour }));
  return [...ofGroups, ...picked.map(({ entity, colour }) => ({ name: names[entity] ?? "", colour }))];
}

/** Drawing as a file of its own. */
export function svgOf(title: string, draw: (size: { width: number; height: number }) => VNode, entries: Entry[], height = PLOT): string {
  const host = document.createElement("div");
  const below = TITLE + height;
  const whole = below + ENTRY * Math.ceil(entries.length / 2) + 4;
  render(
    <svg xmlns="http://www.w3.org/2000/svg" width={`${INCHES}in`} height={`${whole / 96}in`} viewBox={`0 0 ${COLUMN} ${whole}`}>
      <style>{STYLE}</style>
      <rect width={COLUMN} height={whole} fill="var(--ground)" />
      <text class="title" x={4} y={12}>
        {title}
      </text>
      <g transform={`translate(0,${TITLE})`}>{draw({ width: COLUMN, height })}</g>
      {entries.map((entry, index) => (
        <g key={entry.name} transform={`translate(${8 + (index % 2) * (COLUMN / 2)},${below + 9 + ENTRY * Math.floor(index / 2)})`}>
          <g transform="translate(0,-3) scale(0.8)">
            <Key {...entry} />
          </g>
          <text x={20}>{entry.name}</text>
        </g>
      ))}
    </svg>,
    host,
  );
  const text = new XMLSerializer().serializeToString(host.firstElementChild as Element);
  render(null, host);
  return coloured(text, PALETTES.light);
}

/** Drawing as pixels. */
export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = COLUMN * DOTS;
  canvas.height = Math.round((canvas.width * image.height) / image.width);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))), "image/png"));
}

export const csvOf = (cells: (string | number)[][]): string => csvFormatRows(cells.map((row) => row.map(String)));

/** Hands a file to the reader. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
