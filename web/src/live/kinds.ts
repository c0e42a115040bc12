/** The kinds of programs that have a live page, each under the name of the rows in its state. */

import { CELL } from "./cell.tsx";
import { CU } from "./cu.ts";
import { HOP } from "./hop.ts";
import type { Kind, Now } from "./kind.ts";

const KINDS = { ues: CELL, bearers: CU, ways: HOP };

/** The kind of program that sent this state. */
export function kindOf(now: Now): Kind<Now, object> {
  const rows = (Object.keys(KINDS) as (keyof typeof KINDS)[]).find((rows) => rows in now) ?? "ues";
  // The kind whose rows the state has reads it.
  return KINDS[rows] as unknown as Kind<Now, object>;
}
