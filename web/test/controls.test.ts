import { expect, test } from "vitest";
import { assignment, type Setting, tokenIn } from "../src/controls.ts";

const setting: Setting = { name: "Law", first: null, key: "marker.law", kind: "tide", kinds: ["tide"], dials: [] };

test("an assignment that a setting needs first comes first", () => {
  expect(assignment(setting, "marker.tau_s", "5 ms")).toEqual(["set", "marker.tau_s=5 ms"]);
  expect(assignment({ ...setting, first: "ue.1.marker={}" }, "ue.1.marker.law", "none")).toEqual(["set", "ue.1.marker={}", "ue.1.marker.law=none"]);
});

test("the token is the one of the address that was printed", () => {
  expect(tokenIn("#token=0af")).toBe("0af");
  expect([tokenIn(""), tokenIn("#time=1"), tokenIn("#")]).toEqual([null, null, null]);
});
