/** Another run beside the one of the page: what its summary says of the same flows, UEs and routers. */

import type * as declared from "./fields.ts";
import { figure, withUnit } from "./format.ts";
import { type Json, type Measured, object, type Read, read, text } from "./read.ts";

export interface Beside extends Pick<Read<declared.RunResult>, "cell" | "cells" | "flows" | "ues" | "routers"> {
  /** Folder of the run. */
  folder: string;
  /** True where nothing of it was marked. */
  isUnmarked: boolean;
}

/** Reads the other run; null where there is none. */
export function besideOf(value: unknown): Beside | null {
  const given: Json = object(value);
  if (given.summary === undefined) return null;
  const { cell, cells, flows, ues, routers } = read<declared.RunResult>("RunResult", given.summary);
  const isUnmarked = ![...flows, ...ues, ...routers].some(({ marked }) => (marked ?? 0) > 0);
  return { folder: text(given.folder), isUnmarked, cell, cells, flows, ues, routers };
}

const named = <T extends { name: string }>(of: T[], name: string): T | undefined => of.find((one) => one.name === name);

/** End of a sentence with the other run's value for the same quantity; empty if it has none. */
export class Besides {
  readonly run: Beside | null;
  constructor(run: Beside | null) {
    this.run = run;
  }

  flow(name: string, say: (flow: Beside["flows"][number]) => string | null): string {
    return this.end(this.run && named(this.run.flows, name), say);
  }

  ue(name: string, say: (ue: Beside["ues"][number]) => string | null): string {
    return this.end(this.run && named(this.run.ues, name), say);
  }

  router(name: string, say: (router: Beside["routers"][number]) => string | null): string {
    return this.end(this.run && named(this.run.routers, name), say);
  }

  cell(name: string | undefined, say: (cell: { utilisation: Measured; throughput_mbps: Measured }) => string | null): string {
    return this.end(this.run && (name === undefined ? this.run.cell : named(this.run.cells, name)), say);
  }

  whole(say: (run: Beside) => string | null): string {
    return this.end(this.run, say);
  }

  private end<T>(same: T | null | undefined, say: (same: T) => string | null): string {
    const said = this.run && same ? say(same) : null;
    return this.run && said ? `; beside ${this.run.isUnmarked ? "an unmarked run" : this.run.folder}: ${said}` : "";
  }
}

/** Figure with its unit; null where it was not measured. */
export const saidOf = (value: Measured, unit: string): string | null => (value === null ? null : withUnit(figure(value), unit));
