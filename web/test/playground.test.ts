import fc from "fast-check";
import { expect, test } from "vitest";
import schema from "../../docs/reference/scenario.schema.json";
import { read, write } from "../src/playground/address.ts";
import { Completion, rangeOf, tableAt } from "../src/playground/complete.ts";
import { command, KNOBS, turned, valueOf } from "../src/playground/knobs.ts";
import { LESSONS } from "../src/playground/lessons.ts";

const completion = new Completion(schema);

test("a link gives the scenario that was linked", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.array(fc.string()), async (text, set) => {
      expect(await read(`#${await write({ text, set })}`)).toEqual({ text, set });
    }),
  );
});

test("an address that is no link gives nothing", async () => {
  for (const fragment of ["", "#", "#t=1", "#%%%", "#AAAA"]) expect(await read(fragment)).toBeNull();
});

test("keys are those of the table of the last heading", () => {
  expect(tableAt(["name = 1", "[[ue]]", "x = 1", "  [[ ue.drb ]]"])).toEqual(["ue", "drb"]);
  expect(tableAt(["name = 1"])).toEqual([]);
  const keys = (path: string[]): string[] => completion.keys(path).map(({ label }) => label);
  expect(keys([])).toContain("duration");
  expect(keys(["ue"])).toContain("channel");
  expect(keys(["ue", "drb"])).toContain("qos_flow");
  expect(keys(["cell"])).toContain("bandwidth_mhz");
  expect(keys(["nobody"])).toEqual([]);
});

test("values are those that the schema names, each key has a meaning", () => {
  const values = (path: string[]): string[] => completion.values(path).map(({ label }) => label);
  expect(values(["marker", "law"])).toEqual(expect.arrayContaining(['"tide"', '"l4span"', '"none"']));
  expect(values(["flow", "sender", "controller"])).toContain('"prague"');
  for (const { label, info } of completion.keys(["ue"])) expect(info, label).not.toBe("");
});

test("a key's range is said in the words of its unit", () => {
  const info = (path: string[], key: string) => completion.keys(path).find(({ label }) => label === key)?.info ?? "";
  expect(info([], "duration")).toMatch(/ Range: above 0 s, at most 86400 s\.$/);
  expect(info(["cell"], "prbs")).toMatch(/ Range: at least 1 resource blocks, at most 275 resource blocks\.$/);
  expect(info(["marker"], "law")).not.toMatch(/Range/);
  expect(rangeOf({ exclusiveMaximum: 1, minimum: 0 })).toBe("at least 0, below 1");
});

test("a knob turned is an override, turned back it is none", () => {
  const set = turned(turned(["seed=2"], "marker.law", "none"), "seed", "3");
  expect(set).toEqual(["marker.law=none", "seed=3"]);
  expect(valueOf(set, "seed")).toBe("3");
  expect(turned(set, "seed", "")).toEqual(["marker.law=none"]);
  expect(command(["flow.*.round_trip=20 ms", "a=it's"])).toBe("tidemark run scenario.toml --set 'flow.*.round_trip=20 ms' --set 'a=it'\\''s'");
});

test("laws of the knob are laws", () => {
  const laws = completion.values(["marker", "law"]).map(({ label }) => JSON.parse(label) as string);
  for (const law of KNOBS.flatMap((knob) => ("options" in knob && knob.key === "marker.law" ? knob.options.slice(1) : []))) expect(laws).toContain(law);
});

test("a slider moves within the range of its field", () => {
  const sliders = KNOBS.flatMap((knob) => ("options" in knob ? [] : [knob]));
  expect(sliders.map(({ label }) => label)).toEqual(["SNR", "round trip", "duration", "seed"]);
  for (const { label, min, max, step } of sliders) {
    expect((max - min) % step, label).toBe(0);
    expect(min, label).toBeLessThan(max);
  }
});

test("there are six lessons, each with two figures at least", () => {
  expect(LESSONS).toHaveLength(6);
  for (const { title, figures, change } of LESSONS) {
    expect(figures.length, title).toBeGreaterThan(1);
    expect(change.length, title).toBe(1);
  }
});
