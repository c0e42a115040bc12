import { useMemo, useState } from "preact/hooks";
import { type Column, text } from "../columns.ts";
import { plain } from "../format.ts";
import { Facts } from "../parts/Facts.tsx";
import { Section } from "../parts/Section.tsx";
import { Select } from "../parts/Select.tsx";
import { Table } from "../parts/Table.tsx";
import { Theme } from "../parts/Theme.tsx";
import { ScatterFigure } from "./Scatter.tsx";
import { against, linesOf, tradeOff } from "./pictures.ts";
import type { StudyFound } from "./fields.ts";
import { Runs } from "./Runs.tsx";
import { isTie, said } from "./statistics.ts";
import { isLessBetter, type Point, quantity, type Study, titled } from "./study.ts";

/** More points than this are not all shown at first. */
const MANY = 60;

/** Values that the reader filters columns by. */
type Only = Record<string, string>;

/** The page of a study: pictures, then the table whose figures open their runs. */
export function Page({ study }: { study: Study }) {
  const { name, description, points, scenario } = study.data;
  const named = useMemo(() => study.data.columns.filter((column) => ((values) => values.length > 1 && values.some((value) => quantity(value) === null))(study.values(points, column))), [study]);
  const [only, setOnly] = useState<Only>(() => firstOf(study, named));
  const [opened, open] = useState<Point | null>(null);
  const shown = useMemo(() => points.filter((point) => Object.entries(only).every(([column, value]) => value === "" || study.cell(point, column) === value)), [study, only]);
  const part = { study, points: shown };
  return (
    <>
      <header>
        <div class="title">
          <h1>{name}</h1>
          <Theme />
        </div>
        {description && <p class="description">{description}</p>}
        <Facts facts={factsOf(study)} />
      </header>
      <Found study={study} />
      {named.length > 0 && (
        <div class="settings">
          {named.map((column) => (
            <Select key={column} label={column} options={[["", "all"], ...same(study.values(points, column))]} chosen={only[column] ?? ""} change={(value) => setOnly({ ...only, [column]: value })} />
          ))}
        </div>
      )}
      <Section id="parameters" title="Each metric against each parameter">
        {study.varied(shown).length > 0 && study.data.metrics.length > 0 ? <Against {...part} /> : <p class="absent">Nothing is varied.</p>}
      </Section>
      <Section id="trade-off" title="Trade-off">
        {study.data.metrics.length > 1 ? <TradeOff {...part} /> : <p class="absent">A trade-off needs two metrics.</p>}
      </Section>
      <Section id="best" title="Best rows">
        <Best {...part} open={open} />
      </Section>
      <Section id="scenario" title="Scenario">
        <details>
          <summary>Scenario of all runs</summary>
          <pre tabIndex={0}>{scenario}</pre>
        </details>
      </Section>
      {opened && <Runs study={study} point={opened} close={() => open(null)} />}
    </>
  );
}

/** If there are many points, those of the first law, or of the first value of a column of names. */
function firstOf(study: Study, named: string[]): Only {
  const { points } = study.data;
  const [first] = named;
  return first !== undefined && named.length > 1 && points.length > MANY ? { [first]: study.values(points, first)[0] ?? "" } : {};
}

function factsOf({ data: { points, version, commit } }: Study): [string, string][] {
  const rows = points.reduce((sum, { seeds }) => sum + seeds.length, 0);
  return [["Means", plain(points.length)], ["Rows", plain(rows)], ["Tidemark", version], ...(commit === null ? [] : [["Commit", commit] as [string, string]])];
}

const same = (values: string[]) => values.map((value) => [value, value] as const);
const metricsOf = ({ data: { metrics } }: Study) => metrics.map((metric, index) => [String(index), titled(metric)] as const);

/** Largest value at each point of a search. */
function Found({ study: { data: { search, found } } }: { study: Study }) {
  if (search === null) return null;
  const said = ({ value, is_limit }: StudyFound): string => (value === null ? "not even 1" : `${plain(value)}${is_limit ? ", the largest value tried" : ""}`);
  const columns: Column<StudyFound>[] = [text("point", ({ point }) => point || "all"), { group: "", head: search.key, value: ({ value }) => value ?? 0, cell: said, first: true }];
  return (
    <Section id="search" title={`Largest ${search.key} with ${search.condition}`}>
      <Table caption="Found" rows={found} columns={columns} />
    </Section>
  );
}

interface Part {
  study: Study;
  /** Points that are shown. */
  points: Point[];
}

function Against({ study, points }: Part) {
  const { metrics, search } = study.data;
  const varied = study.varied(points);
  const isNumeric = (name: string): boolean => study.values(points, name).every((value) => quantity(value) !== null);
  const preferred = varied.find((name) => name === search?.key) ?? varied.find(isNumeric) ?? varied[0] ?? "";
  const [metric, setMetric] = useState(Math.max(0, metrics.findIndex(({ name }) => name === search?.metric)));
  const [over, setX] = useState(preferred);
  const [from, setBase] = useState("");
  const x = varied.includes(over) ? over : preferred;
  const names = useMemo(() => [...linesOf(study, points, x).lines.keys()], [study, points, x]);
  const base = names.includes(from) ? from : "";
  const { scatter, note } = useMemo(() => against(study, points, { metric, x, base }), [study, points, metric, x, base]);
  return (
    <>
      <div class="settings">
        <Select label="Metric" options={metricsOf(study)} chosen={String(metric)} change={(value) => setMetric(Number(value))} />
        <Select label="against" options={same(varied)} chosen={x} change={setX} />
        {names.length > 1 && <Select label="as" options={[["", "means"], ...names.map((name) => [name, `differences from ${name}`] as const)]} chosen={base} change={setBase} />}
      </div>
      <ScatterFigure scatter={scatter} />
      <p class="note">{note}</p>
    </>
  );
}

function TradeOff({ study, points }: Part) {
  const find = (pattern: RegExp, otherwise: number): number => ((index) => (index < 0 ? otherwise : index))(study.data.metrics.findIndex(({ name }) => pattern.test(name)));
  const [delay, rate] = [find(/owd_ms|queue_ms|delay/, 1), find(/mbps/, 0)];
  const [x, setX] = useState(delay === rate ? Number(rate === 0) : delay);
  const [y, setY] = useState(rate);
  const [flow, setFlow] = useState(study.flows[0] ?? "");
  const { scatter, note } = useMemo(() => tradeOff(study, points, { x, y, flow }), [study, points, x, y, flow]);
  return (
    <>
      <div class="settings">
        <Select label="Across" options={metricsOf(study)} chosen={String(x)} change={(value) => setX(Number(value))} />
        <Select label="up" options={metricsOf(study)} chosen={String(y)} change={(value) => setY(Number(value))} />
        {study.flows.length > 1 && <Select label="of flow" options={same(study.flows)} chosen={flow} change={setFlow} />}
      </div>
      <ScatterFigure scatter={scatter} />
      <p class="note">{note}</p>
    </>
  );
}

/** Rows in the order of a metric, with those that certainly differ from the best. */
function Best({ study, points, open }: Part & { open: (point: Point) => void }) {
  const [index, setIndex] = useState(0);
  const [flow, setFlow] = useState("");
  const metric = study.data.metrics[index];
  const rows = useMemo(() => ranked(study, points, index, flow), [study, points, index, flow]);
  const columns = useMemo(() => columnsOf(study, rows[0], index, open), [study, rows, index, open]);
  if (!metric) return null;
  const order = isLessBetter(metric) ? "Least" : "Most";
  return (
    <>
      <div class="settings">
        <Select label={order} options={metricsOf(study)} chosen={String(index)} change={(value) => setIndex(Number(value))} />
        {study.flows.length > 1 && <Select label="of flow" options={[["", "any"], ...same(study.flows)]} chosen={flow} change={setFlow} />}
      </div>
      <Table key={`${index} ${flow}`} caption={`${order} ${titled(metric)}`} rows={rows} columns={columns} />
      <p class="note">Differences from the best are paired by seed. A tie is a difference whose 95 % confidence interval contains 0: do not choose by it. A figure opens the runs behind it.</p>
    </>
  );
}

/** Points that have a metric, the best first. */
function ranked(study: Study, points: Point[], index: number, flow: string): Point[] {
  const metric = study.data.metrics[index];
  const sign = metric && isLessBetter(metric) ? 1 : -1;
  const measured = points.flatMap((point) => ((of) => (of && (flow === "" || point.flow === flow) ? [{ point, mean: of.mean }] : []))(study.estimate(point, index)));
  return measured.sort((a, b) => sign * (a.mean - b.mean)).map(({ point }) => point);
}

function columnsOf(study: Study, best: Point | undefined, index: number, open: (point: Point) => void): Column<Point>[] {
  const apart = (point: Point) => (best === undefined ? null : study.difference(point, best, index));
  const words = (point: Point): string => {
    const of = apart(point);
    if (of === null || point === best) return point === best ? "best" : "–";
    return `${of.mean >= 0 ? "+" : ""}${said(of)}${of.half === null ? " (one seed)" : isTie(of) ? " (tie)" : ""}`;
  };
  return [
    ...study.columns.map((name) => text<Point>(name, (point) => study.cell(point, name) ?? "")),
    { group: "", head: "from the best", value: (point) => apart(point)?.mean ?? null, cell: words, first: true },
    ...study.data.metrics.map((metric, of): Column<Point> => ({
      group: "",
      head: titled(metric),
      value: (point) => study.estimate(point, of)?.mean ?? null,
      cell: (point) => (
        <button type="button" class="open" onClick={() => open(point)}>
          {said(study.estimate(point, of))}
        </button>
      ),
      first: true,
    })),
    { group: "", head: "seeds", value: ({ seeds }) => seeds.length, show: plain, first: true },
  ];
}
