import { expect, test } from "vitest";
import { HOP } from "../src/live/hop.ts";
import { followed, type Past, picturesOf, started } from "../src/live/kind.ts";

const way = (carried_bytes: number, queue_p95_ms: number | null = null) => ({ name: "to-right", rate_mbps: 20, carried_bytes, queue_p95_ms, packets_in: 0, packets_out: 0, marked: 0, dropped: 0 });

test("a state goes behind the past, and one that the past has already does not", () => {
  const begun = started(HOP.drawn);
  const past: Past = { t_s: [1, 2], rows: { ...begun.rows, marked: [[10, 20]] } };
  const next = followed(past, 3, [{ ...way(7), marked: 30 }]);
  expect([next.t_s, next.rows.marked, next.rows.queue_p95_ms]).toEqual([[1, 2, 3], [[10, 20, 30]], [[null, null, null]]]);
  expect(followed(next, 3, [way(99)])).toBe(next);
});

test("a counter is drawn as its growth per second, below the most that it can be", () => {
  const past = [[0.5, 0], [1, 625_000], [3, 1_625_000]].reduce((past, [t, bytes]) => followed(past, t ?? 0, [way(bytes ?? 0)]), { t_s: [], rows: { carried_bytes: [], rate_mbps: [], queue_p95_ms: [] } } as Past);
  const [carried, ...others] = picturesOf(past, HOP.drawn);
  expect([carried?.rows, carried?.ceilings]).toEqual([[[null, 10, 4]], [[20, 20, 20]]]);
  expect(others.map(({ id }) => id)).toEqual([]);
});
