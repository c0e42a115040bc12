import type { ComponentChildren, VNode } from "preact";
import { csvOf, type Entry, pngOf, save, svgOf } from "../take.tsx";

interface Props {
  id: string;
  title: string;
  /** Note beside the title. */
  note?: ComponentChildren;
  /** Draws the picture in a box of this size. */
  draw: (size: { width: number; height: number }) => VNode;
  /** Height that it needs at the width of a column, if it differs from a plot's. */
  height?: number;
  cells: () => (string | number)[][];
  /** Legend of the saved picture. */
  entries?: () => Entry[];
  children: ComponentChildren;
}

/** A picture with its title, and buttons that save it. */
export function Figure({ id, title, note, draw, height, cells, entries, children }: Props) {
  const svg = (): string => svgOf(title, draw, entries?.() ?? [], height);
  const take: [string, string, () => Promise<Blob> | Blob][] = [
    ["SVG", "svg", () => new Blob([svg()], { type: "image/svg+xml" })],
    ["PNG", "png", () => pngOf(svg())],
    ["CSV", "csv", () => new Blob([csvOf(cells())], { type: "text/csv" })],
  ];
  return (
    <figure class="panel" id={id}>
      <figcaption>
        <h3>{title}</h3>
        <p class="readout">{note}</p>
        <p class="take">
          {take.map(([label, ending, make]) => (
            <button key={label} type="button" aria-label={`${title} as ${label}`} onClick={async () => save(`${id}.${ending}`, await make())}>
              {label}
            </button>
          ))}
        </p>
      </figcaption>
      {children}
    </figure>
  );
}
