/** Questions to the simulator and its answers: bindings/playground/src/lib.rs. */

import type { RunResult } from "../fields.ts";

export interface Request {
  text: string;
  /** What is changed in the text, as by the command's `--set`. */
  set: string[];
}

export interface Fault {
  message: string;
  /** Range of characters in the text, without the last one; null if the position is unknown. */
  place: [number, number] | null;
}

export interface Results {
  /** Text of summary.json. */
  summary: string;
  /** The report page. */
  page: string;
}

export type Answer = { fine: { outline: string } } | { results: Results } | { wrong: { errors: Fault[] } };

/** A run that ended, with what was asked. */
export interface Run {
  request: Request;
  summary: RunResult;
  page: string;
}

export const runOf = (request: Request, { summary, page }: Results): Run => ({ request, summary: JSON.parse(summary) as RunResult, page });
