import { effect } from "@preact/signals";
import { describe, expect, test } from "vitest";
import { COLOURS, Ensemble, worst } from "../src/ensemble.ts";

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `flow-${i}`);
const alternate = (count: number, of: string[]): string[] => Array.from({ length: count }, (_, i) => of[i % of.length] as string);
const lines = (ensemble: Ensemble): string => ensemble.picked.map(({ entity, colour }) => `${entity}:${colour}`).join(" ");

describe("a few", () => {
  const few = (): Ensemble => new Ensemble("flow", names(6), [{ label: "controller", of: alternate(6, ["a", "b"]) }], [2]);

  test("are each a line of its own colour, and no bands", () => {
    const ensemble = few();
    expect(ensemble.many).toBe(false);
    expect(ensemble.groups).toEqual([]);
    expect(ensemble.groupings).toEqual([]);
    expect(lines(ensemble)).toBe("0:0 1:1 2:2 3:3 4:4 5:5");
  });

  test("keep their colours through being switched off and on", () => {
    const ensemble = few();
    ensemble.toggle(1);
    ensemble.toggle(4);
    expect(lines(ensemble)).toBe("0:0 2:2 3:3 5:5");
    expect(ensemble.colourOf(4)).toBeNull();
    ensemble.toggle(4);
    expect(ensemble.colourOf(4)).toBe(4);
    ensemble.clear();
    expect(lines(ensemble)).toBe("");
  });
});

describe("many", () => {
  const many = (groups: string[] = ["cubic", "prague", "bbr"]): Ensemble =>
    new Ensemble("flow", names(64), [{ label: "controller", of: alternate(64, groups) }, { label: "one", of: alternate(64, ["x"]) }, { label: "each", of: names(64) }], [7]);

  test("are more than there are colours", () => {
    expect(new Ensemble("flow", names(COLOURS), [], []).many).toBe(false);
    expect(new Ensemble("flow", names(COLOURS + 1), [], []).many).toBe(true);
  });

  test("are bands per group, each entity in one, groups in the order of their names", () => {
    const { groups } = many();
    expect(groups.map(({ name, colour, members }) => [name, colour, members.length])).toEqual([["bbr", 0, 21], ["cubic", 1, 22], ["prague", 2, 21]]);
    expect(groups.flatMap((group) => group.members).sort((a, b) => a - b)).toEqual(names(64).map((_, i) => i));
  });

  test("can be grouped only where that makes two or three groups", () => {
    expect(many().groupings.map((g) => g.label)).toEqual(["controller"]);
    expect(many(["only"]).groups.map((g) => g.name)).toEqual(["all 64 flows"]);
    expect(many(["a", "b", "c", "d"]).grouping).toBeNull();
  });

  test("lines take the colours that the bands leave, the last one given up when all are taken", () => {
    const ensemble = many();
    expect(ensemble.capacity).toBe(3);
    expect(lines(ensemble)).toBe("7:3");
    for (const entity of [8, 9]) ensemble.toggle(entity);
    expect(lines(ensemble)).toBe("7:3 8:4 9:5");
    ensemble.toggle(10);
    expect(lines(ensemble)).toBe("7:3 8:4 10:5");
    ensemble.toggle(8);
    expect(lines(ensemble)).toBe("7:3 10:5");
    ensemble.toggle(11);
    expect(lines(ensemble)).toBe("7:3 11:4 10:5");
  });

  test("picked lines outlive another grouping, in the colours it leaves", () => {
    const ensemble = many();
    for (const entity of [8, 9]) ensemble.toggle(entity);
    ensemble.groupBy(null);
    expect(ensemble.groups.map((g) => g.name)).toEqual(["all 64 flows"]);
    expect(lines(ensemble)).toBe("7:1 8:2 9:3");
    for (const entity of [10, 11]) ensemble.toggle(entity);
    ensemble.groupBy("controller");
    expect(lines(ensemble)).toBe("7:3 8:4 9:5");
  });

  test("no colour is ever on two things", () => {
    for (const groups of [["a"], ["a", "b"], ["a", "b", "c"]]) {
      const ensemble = many(groups);
      for (let entity = 0; entity < 20; entity += 3) ensemble.toggle(entity);
      const colours = [...ensemble.groups, ...ensemble.picked].map(({ colour }) => colour);
      expect([...colours].sort()).toEqual([...Array(COLOURS).keys()]);
    }
  });
});

test("whoever draws lines hears of changed lines alone, and of each once", () => {
  const ensemble = new Ensemble("flow", names(3), [], []);
  const drawn: string[] = [];
  const stop = effect(() => void drawn.push(lines(ensemble)));
  ensemble.setHovered(1);
  ensemble.toggle(0);
  stop();
  expect([ensemble.hovered, drawn]).toEqual([1, ["0:0 1:1 2:2", "1:1 2:2"]]);
});

test("what is picked by a link is shown, and nothing else", () => {
  const few = new Ensemble("flow", names(4), [], []);
  few.pick([3, 1]);
  expect(lines(few)).toBe("1:1 3:3");
  const many = new Ensemble("flow", names(64), [], [7]);
  many.pick([40, 2]);
  expect(lines(many)).toBe("40:1 2:2");
});

test("the worst is the largest that was measured", () => {
  expect(worst([3, null, 9, 9, -1])).toEqual([2]);
  expect(worst([-5, -2, null])).toEqual([1]);
  expect(worst([0])).toEqual([0]);
  expect(worst([null, null])).toEqual([]);
  expect(worst([])).toEqual([]);
});
