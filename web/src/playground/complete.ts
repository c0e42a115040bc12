/** Keys and values that fit where the cursor is, from the schema of scenarios. */

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  type?: string | string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  /** Bounds of quantities with a unit, as texts. */
  "x-minimum"?: string;
  "x-maximum"?: string;
  "x-exclusiveMinimum"?: string;
  /** Unit of the numbers. */
  "x-unit"?: string;
}

export interface Offer {
  label: string;
  /** Its meaning and its range. */
  info: string;
}

/** Range of a field in words, as `at least 1 ms, at most 10 s`; empty where it has none. */
export function rangeOf(schema: Schema): string {
  const bounds = [
    ["at least", schema["x-minimum"] ?? schema.minimum],
    ["above", schema["x-exclusiveMinimum"] ?? schema.exclusiveMinimum],
    ["at most", schema["x-maximum"] ?? schema.maximum],
    ["below", schema.exclusiveMaximum],
  ] as const;
  const said = bounds.flatMap(([word, bound]) => (bound === undefined ? [] : [`${word} ${bound}${typeof bound === "number" && schema["x-unit"] ? ` ${schema["x-unit"]}` : ""}`]));
  return said.join(", ");
}

/** Table of the last heading before a line: `[[ue.drb]]` gives `ue`, `drb`. */
export function tableAt(lines: readonly string[]): string[] {
  const heading = lines.findLast((line) => /^\s*\[/.test(line));
  return heading?.match(/^\s*\[+\s*([^\]]*)\]/)?.[1]?.split(".").map((part) => part.trim()) ?? [];
}

export class Completion {
  private root: Schema;

  constructor(schema: object) {
    this.root = schema;
  }

  /** All forms of a schema that a value may have. */
  private forms(schema: Schema, depth = 0): Schema[] {
    if (depth > 8) return [];
    const others = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
    const named = schema.$ref === undefined ? undefined : this.root.$defs?.[schema.$ref.replace("#/$defs/", "")];
    return [schema, ...(named === undefined ? others : [named, ...others]).flatMap((one) => this.forms(one, depth + 1))];
  }

  private inside(path: readonly string[]): Schema[] {
    let at = this.forms(this.root);
    for (const key of path) {
      const next = at.flatMap((one) => one.properties?.[key] ?? []).flatMap((one) => this.forms(one));
      at = next.flatMap((one) => (one.items === undefined ? [one] : this.forms(one.items)));
    }
    return at;
  }

  /** Keys of a table. */
  keys(path: readonly string[]): Offer[] {
    const offers = new Map<string, Offer>();
    for (const { properties } of this.inside(path)) {
      for (const [label, schema] of Object.entries(properties ?? {})) {
        const meaning = this.forms(schema).find(({ description }) => description !== undefined)?.description ?? "";
        const range = rangeOf(schema);
        if (!offers.has(label)) offers.set(label, { label, info: range === "" ? meaning : `${meaning} Range: ${range}.` });
      }
    }
    return [...offers.values()].sort((a, b) => a.label.localeCompare(b.label));
  }

  /** Values of a key that are known by name. */
  values(path: readonly string[]): Offer[] {
    const offers = new Map<string, Offer>();
    for (const { const: one, enum: several, type, description } of this.inside(path)) {
      const values = [...(one === undefined ? [] : [one]), ...(several ?? []), ...(type === "boolean" ? [true, false] : [])];
      for (const value of values) offers.set(JSON.stringify(value), { label: JSON.stringify(value), info: description ?? "" });
    }
    return [...offers.values()];
  }
}
