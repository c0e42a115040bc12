/** Plots over the same axis: they share the cursor and the range that is zoomed to. */

import type { Panel } from "./panel.ts";

export class Stack {
  private readonly panels: Panel[] = [];
  private readonly listeners: ((x: number | null) => void)[] = [];
  /** Range that is zoomed to; null is everything. */
  range: [number, number] | null = null;

  add(panel: Panel): void {
    this.panels.push(panel);
  }

  /** Calls `follow` with each place of the cursor, and with null where it goes away. */
  listen(follow: (x: number | null) => void): void {
    this.listeners.push(follow);
  }

  /** Puts the cursor of every plot at `x`, or away. */
  point(x: number | null): void {
    for (const panel of this.panels) panel.showCursor(x);
    for (const follow of this.listeners) follow(x);
  }

  zoom(range: [number, number] | null): void {
    this.range = range;
    for (const panel of this.panels) panel.showRange();
  }

  setLogDelay(on: boolean): void {
    for (const panel of this.panels) panel.setLogDelay(on);
  }

  /** Fits every plot to its place on the page, or to a width. */
  resize(width?: number): void {
    for (const panel of this.panels) panel.resize(width);
  }

  redraw(): void {
    for (const panel of this.panels) panel.redraw();
  }
}
