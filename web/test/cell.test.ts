import { expect, test } from "vitest";
import { type CellNow, followed, NO_PAST, type Past } from "../src/cell.ts";

const state = (t_s: number, down_mbps: number): CellNow => ({ t_s, ues: [{ name: "a", down_mbps, up_mbps: 1, queue_p95_ms: null, uplink_queue_p95_ms: null, mcs: 3 }] }) as unknown as CellNow;

test("a state goes behind the past, and one that the past has already does not", () => {
  const past: Past = { ...NO_PAST, t_s: [1, 2], ues: { ...NO_PAST.ues, down_mbps: [[10, 20]] } };
  const next = followed(past, state(3, 30));
  expect([next.t_s, next.ues.down_mbps, next.ues.queue_p95_ms]).toEqual([[1, 2, 3], [[10, 20, 30]], [[null, null, null]]]);
  expect(followed(next, state(3, 99))).toBe(next);
});
