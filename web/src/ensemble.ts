/**
 * A set of flows or of UEs as the plots show it. A few are drawn as lines. Many are drawn as bands of percentiles per
 * group, with some picked ones as lines on top: sixty-four lines would hide what they show.
 */

import { computed, signal } from "@preact/signals";
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

/** Entity that has a line, in this colour. */
export interface Line {
  entity: number;
  colour: number;
}

export class Ensemble {
  readonly noun: string;
  readonly names: string[];
  /** The groupings that give two or three groups; others show nothing or too much. */
  readonly groupings: Grouping[];
  private readonly chosen = signal<Grouping | null>(null);
  /** Entity of each line, in the order of their colours; a free line is null. */
  private readonly lines = signal<(number | null)[]>([]);
  private readonly pointed = signal<number | null>(null);
  private readonly parts = computed(() => this.split());

  constructor(noun: string, names: string[], groupings: Grouping[], first: number[]) {
    this.noun = noun;
    this.names = names;
    this.groupings = this.many ? groupings.filter((g) => inRange(new Set(g.of).size)) : [];
    this.chosen.value = this.groupings[0] ?? null;
    this.setLines(this.many ? first : names.map((_, index) => index));
  }

  /** True if there are too many entities for a line each. */
  get many(): boolean {
    return this.names.length > COLOURS;
  }

  get grouping(): Grouping | null {
    return this.chosen.value;
  }

  get groups(): Group[] {
    return this.parts.value;
  }

  /** Number that may be picked at once. */
  get capacity(): number {
    return this.many ? COLOURS - this.groups.length : COLOURS;
  }

  get picked(): Line[] {
    const offset = this.many ? this.groups.length : 0;
    return this.lines.value.flatMap((entity, line) => (entity === null ? [] : [{ entity, colour: line + offset }]));
  }

  get hovered(): number | null {
    return this.pointed.value;
  }

  colourOf(entity: number): number | null {
    return this.picked.find((line) => line.entity === entity)?.colour ?? null;
  }

  /** Picks or drops an entity; if no line is free, the last one is given up. */
  toggle(entity: number): void {
    const lines = [...this.lines.value];
    const line = lines.indexOf(entity);
    if (line >= 0) lines[line] = null;
    else {
      // A few entities keep their colours when they are switched off and on again.
      const free = this.many ? lines.indexOf(null) : entity;
      lines[free >= 0 ? free : lines.length - 1] = entity;
    }
    this.lines.value = lines;
  }

  /** Gives lines to these entities only. */
  pick(entities: number[]): void {
    if (this.many) this.setLines(entities);
    else this.lines.value = this.names.map((_, index) => (entities.includes(index) ? index : null));
  }

  clear(): void {
    this.pick([]);
  }

  groupBy(label: string | null): void {
    const kept = this.picked.map((line) => line.entity);
    this.chosen.value = this.groupings.find((g) => g.label === label) ?? null;
    this.setLines(kept);
  }

  setHovered(entity: number | null): void {
    this.pointed.value = entity;
  }

  private split(): Group[] {
    if (!this.many) return [];
    const grouping = this.chosen.value;
    const names = grouping ? [...new Set(grouping.of)].sort() : [`all ${this.names.length} ${this.noun}s`];
    return names.map((name, colour) => ({
      name,
      colour,
      members: this.names.map((_, index) => index).filter((index) => !grouping || grouping.of[index] === name),
    }));
  }

  private setLines(entities: number[]): void {
    this.lines.value = Array.from({ length: this.capacity }, (_, line) => entities[line] ?? null);
  }
}

const inRange = (groups: number): boolean => groups >= 2 && groups <= MOST_GROUPS;

/** The entity with the largest value, which a reader wants to see first. */
export function worst(values: (number | null)[]): number[] {
  let found = -1;
  values.forEach((value, index) => {
    if (value !== null && (found < 0 || value > (values[found] ?? -Infinity))) found = index;
  });
  return found < 0 ? [] : [found];
}
