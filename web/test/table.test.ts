import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sample } from "../sample/sample.js";
import { parse } from "../src/report.ts";
import { FLOW_COLUMNS, ueColumns } from "../src/summary.ts";
import { type Column, order, spans } from "../src/table.ts";

type Row = { name: string; value: number | null };
const byName: Column<Row> = { group: "", head: "Name", value: (row) => row.name };
const byValue: Column<Row> = { group: "", head: "Value", value: (row) => row.value };

describe("order", () => {
  const rows: Row[] = [
    { name: "ue-10", value: 3 },
    { name: "ue-9", value: null },
    { name: "ue-1", value: -1 },
    { name: "UE-2", value: 3 },
  ];

  test("of numbers, with what was not measured last either way", () => {
    expect(order(rows, byValue, "ascending")).toEqual([2, 0, 3, 1]);
    expect(order(rows, byValue, "descending")).toEqual([0, 3, 2, 1]);
  });

  test("of names, numbers inside them as numbers", () => {
    expect(order(rows, byName, "ascending")).toEqual([2, 3, 1, 0]);
    expect(order(rows, byName, "descending")).toEqual([0, 1, 3, 2]);
  });

  test("has every row once, sorted, equals in their old order", () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 9 })), { maxLength: 40 }), (values) => {
        const rows = values.map((value) => ({ name: "", value }));
        const found = order(rows, byValue, "ascending");
        expect([...found].sort((a, b) => a - b)).toEqual(values.map((_, index) => index));
        found.slice(1).forEach((index, i) => {
          const before = found[i] as number;
          const [x, y] = [values[before] ?? Infinity, values[index] ?? Infinity];
          expect(x < y || (x === y && before < index)).toBe(true);
        });
      }),
    );
  });
});

test("neighbours with one group share a head; columns without a group do not", () => {
  const column = (group: string): Column<Row> => ({ ...byName, group });
  expect(spans(["", "", "A", "A", "B", "A"].map(column))).toEqual([
    { group: "", columns: 1 },
    { group: "", columns: 1 },
    { group: "A", columns: 2 },
    { group: "B", columns: 1 },
    { group: "A", columns: 1 },
  ]);
  expect(spans([])).toEqual([]);
});

describe("the columns of the summary", () => {
  const whole = sample(1);
  const [flow] = whole.flows;
  const shown = <T>(columns: Column<T>[], row: T): Record<string, string> =>
    Object.fromEntries(
      columns.map(({ group, head, value, show }) => {
        const v = value(row);
        return [`${group} ${head}`.trim(), typeof v === "string" ? v : (show ?? String)(v)];
      }),
    );

  test("write a flow's figures with the share of marked packets", () => {
    const { flows } = parse(
      JSON.stringify({
        ...whole,
        flows: [{ ...flow, goodput_mbps: null, rtt_ms: null, retransmissions: null, name: "f", ue: "u", controller: "prague", law: "l4span", throughput_mbps: 9.876, sent_packets: 2000, marked: 250, dropped: 0, owd_ms: { mean: 21.26, p50: 20, p95: 30, p99: 40, p999: 1234.56 } }],
        ues: [],
      }),
    );
    expect(shown(FLOW_COLUMNS, flows[0] as never)).toMatchObject({
      Flow: "f",
      Controller: "prague",
      "Rate (Mbit/s) IP": "9.88",
      "Rate (Mbit/s) goodput": "–",
      "One-way delay (ms) mean": "21.3",
      "One-way delay (ms) p99.9": "1\u2009234.6",
      "Round-trip time (ms) p50": "–",
      "Packets sent": "2\u2009000",
      "Packets CE (%)": "12.5",
      "Packets dropped": "0",
      "Packets resent": "–",
    });
  });

  test("have no share of nothing", () => {
    const changed = { flows: [{ ...flow, sent_packets: 0, marked: 0 }], ues: [{ ...whole.ues[0], bler: 0.0812, prb_share: 0.25, mcs_mean: 14.25 }] };
    const { flows, ues } = parse(JSON.stringify({ ...whole, ...changed }));
    expect(shown(FLOW_COLUMNS, flows[0] as never)["Packets CE (%)"]).toBe("–");
    expect(shown(ueColumns([]), ues[0] as never)).toMatchObject({ "Radio BLER (%)": "8.1", "Radio PRB share (%)": "25.0", "Radio mean MCS": "14.3" });
  });
});
