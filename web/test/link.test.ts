import fc from "fast-check";
import { expect, test } from "vitest";
import { fragment, NOTHING, read } from "../src/link.ts";
import { View } from "../src/view.ts";

const name = fc.string({ minLength: 1 });
const place = fc.integer({ min: -99_999, max: 99_999 }).map((tenth) => tenth / 10);

test("a link says what was kept", () => {
  const kept = fc.record({
    range: fc.option(fc.tuple(place, place).filter(([from, to]) => from < to)),
    moment: fc.option(place),
    flows: fc.option(fc.array(name)),
    ues: fc.option(fc.array(name)),
    panel: fc.option(name),
  });
  fc.assert(
    fc.property(kept, (one) => {
      expect(read(`#${fragment(one)}`)).toEqual(one);
    }),
  );
});

test("what is no link of ours keeps nothing", () => {
  expect(fragment(NOTHING)).toBe("");
  for (const text of ["", "#", "#scenario", "#from=3", "#from=5&to=2", "#from=a&to=b&at=", "#at=Infinity"]) expect(read(text)).toEqual(NOTHING);
});

test("a view zooms within its data, and everything is no zoom", () => {
  const view = new View([0, 30]);
  view.zoom([-5, 10]);
  expect(view.shown).toEqual([0, 10]);
  view.zoom([40, 50]);
  expect(view.range.value).toBeNull();
  view.zoomBy(0.5, 0.5, (share) => 30 * share);
  expect(view.shown).toEqual([7.5, 22.5]);
  view.zoom([0, 30]);
  expect(view.range.value).toBeNull();
});
