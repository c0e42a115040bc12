/** View of an axis: pictures over the same axis share the zoomed range, the cursor and the chosen moment. */

import { type Signal, signal } from "@preact/signals";

export type Range = [from: number, to: number];

export class View {
  private readonly all: Signal<Range>;
  /** Zoomed range; null for everything. */
  readonly range = signal<Range | null>(null);
  /** Position of the cursor. */
  readonly cursor = signal<number | null>(null);
  /** Position that was chosen by a click or by Enter. */
  readonly moment = signal<number | null>(null);
  /** Delays differ by orders of magnitude: a logarithmic axis shows both ends. */
  readonly logDelay = signal(false);

  constructor(whole: Range) {
    this.all = signal(whole);
  }

  /** Range of all data. */
  get whole(): Range {
    return this.all.value;
  }

  /** More data came. */
  grow(whole: Range): void {
    if (String(whole) !== String(this.all.peek())) this.all.value = whole;
  }

  get shown(): Range {
    return this.range.value ?? this.whole;
  }

  /** Zooms to a range; null stands for a range that includes everything. */
  zoom(range: Range | null): void {
    const [least, most] = this.whole;
    const kept = range && ([Math.max(least, range[0]), Math.min(most, range[1])] as Range);
    this.range.value = kept && kept[0] < kept[1] && (kept[0] > least || kept[1] < most) ? kept : null;
  }

  /** Zooms around the cursor, or around the middle without one; `invert` gives the value at a share of the axis. */
  zoomBy(factor: number, share: number, invert: (share: number) => number): void {
    this.zoom([invert(share - share * factor), invert(share + (1 - share) * factor)]);
  }
}
