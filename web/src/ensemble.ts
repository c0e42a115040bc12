/**
 * A set of flows or of UEs as the plots show it. A few are drawn as lines. Many are drawn as bands of percentiles per
 * group, with some picked ones as lines on top: sixty-four lines would hide what they show.
 */

import { DASHES } from "./theme.ts";

/** Distinct colours, hence the most lines on a plot. */
export const COLOURS = DASHES.length;
/** More groups than this would leave too few colours for lines. */
const MOST_GROUPS = 3;

export interface Grouping {
  label: string;
  /** The group of each entity. */
  of: string[];
}

export interface Group {
  name: string;
  members: number[];
  colour: number;
}

export class Ensemble {
  readonly noun: string;
  readonly names: string[];
  /** The ways to group that make two or three groups; others tell nothing or too much. */
  readonly groupings: Grouping[];
  grouping: Grouping | null;
  /** Entity of each line, in the order of their colours; a free line is null. */
  private lines: (number | null)[] = [];
  private hover: number | null = null;
  private readonly listeners: ((picked: boolean) => void)[] = [];

  constructor(noun: string, names: string[], groupings: Grouping[], first: number[]) {
    this.noun = noun;
    this.names = names;
    this.groupings = this.many ? groupings.filter((g) => inRange(new Set(g.of).size)) : [];
    this.grouping = this.groupings[0] ?? null;
    this.setLines(this.many ? first : names.map((_, index) => index));
  }

  /** Too many for a line each. */
  get many(): boolean {
    return this.names.length > COLOURS;
  }

  get groups(): Group[] {
    if (!this.many) return [];
    const grouping = this.grouping;
    const names = grouping ? [...new Set(grouping.of)].sort() : [`all ${this.names.length} ${this.noun}s`];
    return names.map((name, colour) => ({
      name,
      colour,
      members: this.names.map((_, index) => index).filter((index) => !grouping || grouping.of[index] === name),
    }));
  }

  /** Number that may be picked at once. */
  get capacity(): number {
    return this.many ? COLOURS - this.groups.length : COLOURS;
  }

  get picked(): { entity: number; colour: number }[] {
    const offset = this.many ? this.groups.length : 0;
    return this.lines.flatMap((entity, line) => (entity === null ? [] : [{ entity, colour: line + offset }]));
  }

  get hovered(): number | null {
    return this.hover;
  }

  colourOf(entity: number): number | null {
    return this.picked.find((line) => line.entity === entity)?.colour ?? null;
  }

  /** Picks or drops an entity; with no line free, the last line is given up. */
  toggle(entity: number): void {
    const line = this.lines.indexOf(entity);
    if (line >= 0) this.lines[line] = null;
    else {
      // Of a few, each keeps its own colour, whatever is switched off and on again.
      const free = this.many ? this.lines.indexOf(null) : entity;
      this.lines[free >= 0 ? free : this.lines.length - 1] = entity;
    }
    this.tell(true);
  }

  clear(): void {
    this.lines.fill(null);
    this.tell(true);
  }

  groupBy(label: string | null): void {
    const kept = this.picked.map((line) => line.entity);
    this.grouping = this.groupings.find((g) => g.label === label) ?? null;
    this.setLines(kept);
    this.tell(true);
  }

  setHovered(entity: number | null): void {
    if (entity === this.hover) return;
    this.hover = entity;
    this.tell(false);
  }

  /** The listener learns whether the lines changed, or only what is pointed at. */
  subscribe(listener: (picked: boolean) => void): void {
    this.listeners.push(listener);
  }

  private setLines(entities: number[]): void {
    this.lines = Array.from({ length: this.capacity }, (_, line) => entities[line] ?? null);
  }

  private tell(picked: boolean): void {
    for (const listener of this.listeners) listener(picked);
  }
}

const inRange = (groups: number): boolean => groups >= 2 && groups <= MOST_GROUPS;

/** The entity with the largest value: what a reader wants to see first. */
export function worst(values: (number | null)[]): number[] {
  let found = -1;
  values.forEach((value, index) => {
    if (value !== null && (found < 0 || value > (values[found] ?? -Infinity))) found = index;
  });
  return found < 0 ? [] : [found];
}
