import {
  type ColumnDef,
  columnVisibilityFeature,
  createPaginatedRowModel,
  createSortedRowModel,
  rowPaginationFeature,
  rowSortingFeature,
  sortFn_alphanumeric,
  tableFeatures,
  useTable,
} from "@tanstack/preact-table";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { type Column, grouped, type Row, rowsOf } from "../columns.ts";
import type { Ensemble } from "../ensemble.ts";
import type { Measured } from "../read.ts";
import { Swatch } from "./Swatch.tsx";

const features = tableFeatures({
  columnVisibilityFeature,
  rowPaginationFeature,
  rowSortingFeature,
  paginatedRowModel: createPaginatedRowModel(),
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric },
});

/** Rows that are shown until somebody asks for all. */
const FIRST = 12;

interface Props<T> {
  caption: string;
  rows: T[];
  columns: Column<T>[];
  /** Entities of the rows, if the plots can show them. */
  ensemble?: Ensemble;
}

type Definition<T> = ColumnDef<typeof features, Row<T>>;

const idOf = ({ group, head }: Column<never>): string => `${group} ${head}`;

/** Columns with one heading for each group; values that were not measured come last in both orders. */
function definitions<T>(columns: Column<T>[]): Definition<T>[] {
  const single = (column: Column<T>): Definition<T> => ({
    id: idOf(column),
    header: column.head,
    accessorFn: ({ of }: Row<T>) => column.value(of) ?? undefined,
    sortUndefined: "last",
    sortDescFirst: !column.isText,
    ...(column.isText ? { sortFn: "alphanumeric" as const } : {}),
  });
  return grouped(columns).flatMap(({ group, of }) => (group === "" ? of.map(single) : [{ id: `${group} of ${of[0]?.head}`, header: group, columns: of.map(single) }]));
}

/** A table that sorts by any column, with the columns that people decide by, and the others on demand. */
export function Table<T>({ caption, rows, columns, ensemble }: Props<T>) {
  const { data, measured } = useMemo(() => rowsOf(rows, columns), [rows, columns]);
  const defined = useMemo(() => definitions(measured), [measured]);
  const hidden = useMemo(() => Object.fromEntries(measured.filter(({ first }) => !first).map((column) => [idOf(column), false])), [measured]);
  const worst = data.length > FIRST ? measured.filter((column) => column.worst) : [];
  const byId = new Map(measured.map((column) => [idOf(column), column]));
  const isText = (id: string): boolean => byId.get(id)?.isText ?? false;
  const initialState = {
    sorting: worst.map((column) => ({ id: idOf(column), desc: true })),
    columnVisibility: hidden,
    pagination: { pageIndex: 0, pageSize: FIRST },
  };
  const table = useTable({ features, columns: defined, data, enableSortingRemoval: false, initialState });
  if (data.length === 0) return null;
  const { columnVisibility, pagination } = table.state;
  const all = Object.values(columnVisibility).every((shown) => shown);
  return (
    <div class="tabled">
      <h3>{caption}</h3>
      {Object.keys(hidden).length > 0 && (
        <button type="button" aria-pressed={all} onClick={() => table.setColumnVisibility(Object.fromEntries(Object.keys(hidden).map((id) => [id, !all])))}>
          {all ? "Fewer columns" : "All columns"}
        </button>
      )}
      {data.length > FIRST && (
        <button type="button" aria-pressed={pagination.pageSize > FIRST} onClick={() => table.setPageSize(pagination.pageSize > FIRST ? FIRST : data.length)}>
          {pagination.pageSize > FIRST ? `First ${FIRST} rows` : `All ${data.length} rows`}
        </button>
      )}
      <div class="table" tabIndex={0} role="region" aria-label={caption}>
        <table>
          <thead>
            {table.getHeaderGroups().map((group) => (
              <tr key={group.id}>
                {group.headers.map((header) => (header.isPlaceholder ? <td key={header.id} /> : <Head key={header.id} header={header} isText={isText(header.column.id)} />))}
              </tr>
            ))}
          </thead>
          <tbody>
            {table.getRowModel().rows.map((row) => (
              <tr key={row.id} onMouseEnter={() => ensemble?.setHovered(row.original.entity)} onMouseLeave={() => ensemble?.setHovered(null)}>
                {row.getVisibleCells().map((cell, index) => (
                  <Cell
                    key={cell.id}
                    content={contentOf(row.original.of, cell.getValue() as Measured | string | undefined, byId.get(cell.column.id))}
                    isText={isText(cell.column.id)}
                    name={index === 0 ? { entity: row.original.entity, ensemble } : null}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

type Header<T> = ReturnType<ReturnType<typeof useTable<typeof features, Row<T>>>["getHeaderGroups"]>[number]["headers"][number];

const SORTED = { asc: "ascending", desc: "descending" } as const;

function Head<T>({ header, isText }: { header: Header<T>; isText: boolean }) {
  const { column, colSpan, subHeaders } = header;
  const text = String(column.columnDef.header);
  if (subHeaders.length > 0) return <th class="group" colSpan={colSpan} scope="colgroup">{text}</th>;
  const sorted = column.getIsSorted();
  return (
    <th scope="col" class={isText ? "text" : "number"} aria-sort={sorted ? SORTED[sorted] : undefined}>
      <button type="button" onClick={column.getToggleSortingHandler()}>
        {text}
      </button>
    </th>
  );
}

function contentOf<T>(row: T, value: Measured | string | undefined, column: Column<T> | undefined): ComponentChildren {
  if (column?.cell) return column.cell(row);
  return typeof value === "string" ? value : (column?.show ?? String)(value ?? null);
}

interface CellProps {
  content: ComponentChildren;
  isText: boolean;
  /** Entity of the row, if the cell names it. */
  name: { entity: number; ensemble?: Ensemble } | null;
}

function Cell({ content, isText, name }: CellProps) {
  if (name === null) return <td class={isText ? "text" : "number"}>{content}</td>;
  const { entity, ensemble } = name;
  if (!ensemble) return <th scope="row">{content}</th>;
  const colour = ensemble.colourOf(entity);
  return (
    <th scope="row">
      <label title="Show in the plots">
        <input type="checkbox" checked={colour !== null} onChange={() => ensemble.toggle(entity)} />
        <Swatch colour={colour} />
        {content}
      </label>
    </th>
  );
}
