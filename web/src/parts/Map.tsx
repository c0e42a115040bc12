import { bisectCenter } from "d3-array";
import { arc, line } from "d3-shape";
import { useMemo, useState } from "preact/hooks";
import { visible } from "../decimate.ts";
import type { Ensemble } from "../ensemble.ts";
import { plain } from "../format.ts";
import { BY, type By, type Class, classes, handoversOf, type Place, projection, track } from "../map.ts";
import type { Report } from "../report.ts";
import type { View } from "../view.ts";
import { Choices } from "./Choices.tsx";
import { Figure } from "./Figure.tsx";
import { Time } from "./Time.tsx";
import { useWidth } from "./useWidth.ts";

/** Largest height, and height of a saved picture. */
const [MOST, TAKEN] = [560, 300];
/** Size of a UE and of a UE without data, length of a sector, and distance within which the pointer finds a UE, in pixels. */
const [DOT, UNKNOWN, SECTOR, REACH] = [7, 4, 22, 14];

interface Props {
  report: Report;
  ues: Ensemble;
  view: View;
}

/** Map of sites and UEs at a moment, with the paths and handovers of the picked UEs. */
export function Map({ report, ues, view }: Props) {
  const [host, width] = useWidth<HTMLDivElement>();
  const [by, setBy] = useState<By>("queue");
  const { t_s } = report;
  const at = bisectCenter(t_s, view.cursor.value ?? view.moment.value ?? view.shown[1]);
  const found = classes(report, by, at);
  const draw = (size: number, most: number) => <Ground report={report} ues={ues} view={view} found={found} at={at} width={size} most={most} />;
  const { east_m, north_m, queue_ms, sinr_db, cell } = report.series.ues;
  const cells = () => {
    const row = (name: string, ue: number) => [name, ...[east_m, north_m, queue_ms, sinr_db].map((rows) => rows[ue]?.[at] ?? ""), report.cells[cell[ue]?.[at] ?? -1]?.name ?? ""];
    return [["UE", "east (m)", "north (m)", "queue (ms)", "SINR (dB)", "cell"], ...ues.names.map(row)];
  };
  const time = `${(t_s[at] ?? 0).toFixed(2)} s`;
  return (
    <Figure id="map" title={`Map at ${time}`} height={TAKEN} draw={({ width }) => draw(width, TAKEN)} cells={cells}>
      <div class="controls">
        <Choices label="UEs coloured by" options={BY.map((one) => [one, one] as const)} chosen={by} change={setBy} />
        <Time times={t_s} at={at} view={view} />
      </div>
      <div ref={host} role="img" aria-label={`${ues.names.length} UEs among ${report.cells.length} cells at ${time}: ${found.map(({ label, ues }) => `${ues.length} ${by} ${label}`).join(", ")}`}>
        {width > 0 && draw(width, MOST)}
      </div>
      <ul class="entries">
        {found.filter(({ ues }) => by !== "cell" || ues.length > 0).map(({ label, colour, ues }) => (
          <li key={label}>
            <span class="dot" style={`--colour: ${colour ?? "var(--muted)"}`} />
            {label} <small>{plain(ues.length)}</small>
          </li>
        ))}
      </ul>
    </Figure>
  );
}

interface GroundProps extends Props {
  found: Class[];
  at: number;
  width: number;
  most: number;
}

function Ground({ report, ues, view, found, at, width, most }: GroundProps) {
  const { height, place } = useMemo(() => projection(report, width, most), [report, width, most]);
  const of = (ue: number): Place => place(report.series.ues.east_m[ue]?.[at] ?? Number.NaN, report.series.ues.north_m[ue]?.[at] ?? Number.NaN);
  const dots = (which: number[]): string => which.map(of).filter(([x]) => !Number.isNaN(x)).map(([x, y]) => `M${x.toFixed(1)},${y.toFixed(1)}h0`).join("");
  const nearest = (event: MouseEvent): number | null => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const distances = ues.names.map((_, ue) => ((place) => Math.hypot(place[0] - event.clientX + box.left, place[1] - event.clientY + box.top))(of(ue)));
    const least = Math.min(...distances.filter((distance) => !Number.isNaN(distance)));
    return least <= REACH ? distances.indexOf(least) : null;
  };
  const pick = (event: MouseEvent): void => {
    const ue = nearest(event);
    if (ue !== null) ues.toggle(ue);
  };
  const { hovered } = ues;
  const named = [...ues.picked.map(({ entity, colour }) => ({ ue: entity, colour: `var(--series-${colour})` })), ...(hovered === null ? [] : [{ ue: hovered, colour: "var(--text)" }])];
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
      onPointerMove={(event) => ues.setHovered(nearest(event))}
      onPointerLeave={() => ues.setHovered(null)}
      onClick={pick}
    >
      <rect width={width} height={height} fill="var(--ground)" />
      <Sites report={report} place={place} />
      {ues.picked.map(({ entity, colour }) => (
        <Track key={entity} report={report} ue={entity} colour={colour} view={view} place={place} jump={Math.min(width, height) / 3} />
      ))}
      <g fill="none" stroke-linecap="round">
        {found.map(({ label, colour, ues }) => colour === null && <path key={label} class="ues" d={dots(ues)} stroke="var(--muted)" stroke-width={UNKNOWN} />)}
        <path d={dots(found.flatMap(({ colour, ues }) => (colour === null ? [] : ues)))} stroke="var(--text)" stroke-width={DOT + 1.5} />
        {found.map(({ label, colour, ues }) => colour !== null && <path key={label} class="ues" d={dots(ues)} stroke={colour} stroke-width={DOT} />)}
      </g>
      {named.map(({ ue, colour }) => (
        <g key={ue} class="named" transform={`translate(${of(ue).map((at) => at.toFixed(1)).join(",")})`}>
          <circle r={DOT} fill="none" stroke={colour} stroke-width={2} />
          <text x={DOT + 3} y={4} fill="var(--text)">
            {ues.names[ue]}
          </text>
        </g>
      ))}
    </svg>
  );
}

/** Sites with their sectors, drawn at half of the angle that each serves. */
function Sites({ report: { cells }, place }: { report: Report; place: (east: number, north: number) => Place }) {
  const alike = new Set(cells.map(({ position_m }) => String(position_m))).size;
  const half = (Math.PI * alike) / Math.max(1, cells.length) / 2;
  const wedge = arc<{ startAngle: number; endAngle: number }>().innerRadius(3).outerRadius(SECTOR);
  return (
    <g class="sites">
      {cells.map(({ name, position_m, azimuth_deg }) => {
        if (!position_m) return null;
        // Angles of a compass, clockwise from north.
        const way = Math.PI / 2 - ((azimuth_deg ?? 0) * Math.PI) / 180;
        const [x, y] = place(position_m[0] ?? 0, position_m[1] ?? 0);
        return (
          <g key={name} transform={`translate(${x.toFixed(1)},${y.toFixed(1)})`}>
            <path d={wedge({ startAngle: way - half, endAngle: way + half }) ?? ""} fill="var(--rule)" />
            <text class="label" text-anchor="middle" x={(SECTOR + 9) * Math.sin(way)} y={4 - (SECTOR + 9) * Math.cos(way)}>
              {name}
            </text>
          </g>
        );
      })}
    </g>
  );
}

interface TrackProps {
  report: Report;
  ue: number;
  colour: number;
  view: View;
  place: (east: number, north: number) => Place;
  jump: number;
}

/** Path of a UE over the shown range, with a square where it changed cells. */
function Track({ report, ue, colour, view, place, jump }: TrackProps) {
  const range = visible(report.t_s, view.shown);
  const { east_m, north_m } = report.series.ues;
  const changes = handoversOf(report, ue).filter((at) => at >= range[0] && at <= range[1]);
  return (
    <g stroke={`var(--series-${colour})`} fill="none" stroke-width={1.5}>
      {track(report, ue, range, place, jump).map((part, index) => (
        <path key={index} class="track" d={line().digits(1)(part) ?? ""} />
      ))}
      {changes.map((at) => {
        const [x, y] = place(east_m[ue]?.[at] ?? 0, north_m[ue]?.[at] ?? 0);
        return <rect key={at} class="handover" x={x - 4} y={y - 4} width={8} height={8} fill="var(--ground)" />;
      })}
    </g>
  );
}
