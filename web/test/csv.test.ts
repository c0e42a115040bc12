import { expect, test } from "vitest";
import { csvRows } from "../src/csv.ts";

test("cells are read with and without quotes, and the last line with and without its end", () => {
  expect(csvRows("")).toEqual([]);
  expect(csvRows("a,b\n")).toEqual([["a", "b"]]);
  expect(csvRows("a,b")).toEqual([["a", "b"]]);
  expect(csvRows("a,\n,b")).toEqual([["a", ""], ["", "b"]]);
  expect(csvRows("a,")).toEqual([["a", ""]]);
  expect(csvRows('"x, ""y""\nz",2\r\n3,4\r\n')).toEqual([['x, "y"\nz', "2"], ["3", "4"]]);
});
