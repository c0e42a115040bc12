import { describe, expect, test } from "vitest";
import { sample, video } from "../sample/sample.js";
import { type Column, FLOW_COLUMNS, grouped, rowsOf, UE_COLUMNS } from "../src/columns.ts";
import { parse } from "../src/report.ts";

type Thing = { name: string; value: number | null };
const byName: Column<Thing> = { group: "", head: "Name", value: ({ name }) => name, isText: true };
const byValue: Column<Thing> = { group: "", head: "Value", value: ({ value }) => value };
const never: Column<Thing> = { group: "", head: "Never", value: () => null };

test("neighbours with one group share a head; columns without a group do not", () => {
  const column = (group: string): Column<Thing> => ({ ...byName, group });
  const heads = grouped(["", "", "A", "A", "B", "A"].map(column)).map(({ group, of }) => [group, of.length]);
  expect(heads).toEqual([["", 1], ["", 1], ["A", 2], ["B", 1], ["A", 1]]);
  expect(grouped([])).toEqual([]);
});

test("a row or a column of which nothing was measured is not there, and a zero is a value", () => {
  const rows = [{ name: "a", value: null }, { name: "b", value: 0 }];
  const { data, measured } = rowsOf(rows, [byName, never, byValue]);
  expect(data).toEqual([{ of: rows[1], entity: 1 }]);
  expect(measured.map(({ head }) => head)).toEqual(["Name", "Value"]);
});

describe("the columns", () => {
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
    const changed = { goodput_mbps: null, rtt_ms: null, retransmissions: null, name: "f", ue: "u", controller: "prague", law: "l4span", throughput_mbps: 9.876, sent_packets: 2000, marked: 250, dropped: 0, owd_ms: { mean: 21.26, p50: 20, p95: 30, p99: 40, p999: 1234.56 } };
    const { flows } = parse(JSON.stringify({ ...whole, flows: [{ ...flow, ...changed }], ues: [] }));
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
    expect(shown(UE_COLUMNS, ues[0] as never)).toMatchObject({ "Radio BLER (%)": "8.1", "Radio PRB share (%)": "25.0", "Radio mean MCS": "14.3" });
  });

  test("that people decide by have rate and delay beside frames, freezes and pages", () => {
    const { flows } = parse(JSON.stringify(video()));
    const first = rowsOf(flows, FLOW_COLUMNS).measured.filter((column) => column.first);
    expect(first.map(({ group, head }) => `${group} ${head}`.trim())).toEqual([
      "Flow", "Controller", "Rate (Mbit/s) IP", "One-way delay (ms) p50", "One-way delay (ms) p99", "RLC queue delay (ms) p99",
      "Frame delay (ms) p50", "Frame delay (ms) p99", "Frames lost", "Freezes number", "Freezes frozen (s)", "Delay budget met (%)",
      "Transfers and pages completed", "Transfer or page time (ms) p50", "Transfer or page time (ms) p95", "Packets CE (%)", "Packets dropped",
    ]);
    const { measured } = rowsOf(parse(JSON.stringify(sample(3))).flows, FLOW_COLUMNS);
    expect(measured.some(({ group }) => /Frame|Freeze|Transfer|budget/.test(group))).toBe(false);
  });
});
