/** Comparison of the data in the page with the declared results, so that a renamed field does not show as an empty table. */

import { FIELDS, VERSION } from "./fields.ts";

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** Path of the first declared field that is missing in `value`, a result of this type or a list of them; `undefined` if none is missing. */
function missing(value: unknown, type: string, path: string): string | undefined {
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) {
      const found = missing(entry, type, `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isObject(value)) return path;
  const inside = (field: string): string => (path === "" ? field : `${path}.${field}`);
  const fields = Object.entries(FIELDS[type] ?? {});
  const absent = fields.find(([field, kind]) => !kind.endsWith("?") && value[field] === undefined);
  if (absent !== undefined) return inside(absent[0]);
  for (const [field, kind] of fields) {
    const part = kind.replace(/(\[\])?\??$/, "");
    // A part that was not measured is null, one that does not apply is absent.
    const found = FIELDS[part] === undefined || value[field] == null ? undefined : missing(value[field], part, inside(field));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Reason why this page cannot show a run; `undefined` where it can. */
export function unreadable(data: Json): string | undefined {
  if (data.tidemark !== VERSION) {
    const theirs = typeof data.tidemark === "string" ? `Tidemark ${data.tidemark}` : "a program without a version";
    return `The data in this page is from ${theirs}, but the page is from Tidemark ${VERSION}: write the report again with one of the two.`;
  }
  const absent = missing(data, "RunResult", "") ?? missing(data.series, "Series", "series");
  return absent && `The data in this page has no “${absent}”, which every run of Tidemark ${VERSION} has, so it is damaged: write the report again.`;
}
