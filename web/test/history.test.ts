import { expect, test } from "vitest";
import { MOST } from "../src/series.ts";
import { lengthened, NO_HISTORY, picturesOf } from "../src/stream/history.ts";
import { NOTHING } from "../src/stream/player.ts";

const sent = (sent_mbps: number) => ({ ...NOTHING, sent_mbps });

test("a stream that is added later has nothing before", () => {
  const one = lengthened(NO_HISTORY, 1, [sent(2)]);
  const two = lengthened(one, 1.5, [sent(3), sent(4)]);
  expect([two.t_s, two.streams.sent_mbps]).toEqual([[1, 1.5], [[2, 3], [null, 4]]]);
  const [rate] = picturesOf(two);
  expect([rate?.rows, rate?.ceilings]).toEqual([[[2, 3], [null, 4]], [[null, null], [null, null]]]);
});

test("a page that is open for long forgets its first points", () => {
  let history = NO_HISTORY;
  for (let index = 0; index < MOST + 5; index++) history = lengthened(history, index, [sent(index)]);
  expect([history.t_s.length, history.t_s[0], history.streams.sent_mbps[0]?.length]).toEqual([MOST, 5, MOST]);
});
