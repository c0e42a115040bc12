/** Text of a CSV file as rows of cells (RFC 4180). */

/** Reads rows; quotes around a cell and doubled ones in it are taken away. */
export function csvRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  // A cell with quotes, or one without; then a comma, the end of a line, or that of the text.
  const cells = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/y;
  while (cells.lastIndex < text.length) {
    const match = cells.exec(text);
    // A quote in the middle of a cell is none that a run writes.
    if (match === null) return rows;
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    if (match[3] !== ",") {
      rows.push(row);
      row = [];
    }
  }
  if (row.length > 0) rows.push([...row, ""]);
  return rows;
}
