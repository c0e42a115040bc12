import type { Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { type Column, text } from "../columns.ts";
import type { Controlled, Send } from "../controls.ts";
import { Ensemble } from "../ensemble.ts";
import { fixed, plain } from "../format.ts";
import { CELL } from "../live/cell.tsx";
import type { Snapshot } from "../live/fields.ts";
import { type Past, picturesOf as picturesOfRows } from "../live/kind.ts";
import { Controls } from "../parts/Controls.tsx";
import { Section } from "../parts/Section.tsx";
import { Wide } from "../parts/Stacks.tsx";
import { Table } from "../parts/Table.tsx";
import { Theme } from "../parts/Theme.tsx";
import type { Measured } from "../read.ts";
import { View } from "../view.ts";
import { type History, picturesOf } from "./history.ts";
import type { Choice, Now, Player } from "./player.ts";

/** Names of the controllers, with their descriptions. */
export type Controllers = [name: string, title: string][];

/** The live cell that the server was told of. */
export interface Cell {
  now: Snapshot;
  controls: Controlled;
}

interface Props {
  controllers: Controllers;
  players: Signal<Player[]>;
  history: Signal<History>;
  cell: Signal<Cell | null>;
  past: Signal<Past>;
  /** Adds a stream; null once there are enough. */
  add: (() => void) | null;
  /** Sends commands to the cell; null for a page that has no token. */
  send: Send | null;
}

/** Page of streams: their pictures, what both ends say, and the cell before them. */
export function Page({ controllers, players, history, cell, past, add, send }: Props) {
  const names = players.value.map((player, index) => `${index + 1}: ${nameOf(player.choice.value)}`);
  const view = useMemo(() => new View([0, 1]), []);
  const rows = players.value.map((player, index) => rowOf(player, names[index] ?? "", history.value, index));
  return (
    <>
      <Head title="A stream, and the queue before it" note="Click a picture to make it white: the page measures the time until that is shown." />
      <div class="columns">
        {players.value.map((player, index) => (
          <Tile key={index} player={player} controllers={controllers} />
        ))}
      </div>
      {add && (
        <p class="controls">
          <button type="button" onClick={add}>
            Another controller beside it
          </button>
        </p>
      )}
      {cell.value && send && <Controls controlled={cell.value.controls} send={send} />}
      <Streams caption="Streams now" rows={rows} columns={COLUMNS} history={history.value} view={view} />
      {cell.value && <BeforeThem cell={cell.value} past={past.value} view={view} />}
    </>
  );
}

/** Title of a page, and its theme. */
export function Head({ title, note }: { title: string; note: string }) {
  return (
    <header>
      <div class="title">
        <h1>{title}</h1>
        <Theme />
      </div>
      <p class="note">{note}</p>
    </header>
  );
}

interface StreamsProps<T> {
  caption: string;
  rows: T[];
  columns: Column<T>[];
  history: History;
  view: View;
}

/** Figures of streams, and their pictures over time. */
export function Streams<T extends { name: string }>({ caption, rows, columns, history, view }: StreamsProps<T>) {
  const names = rows.map(({ name }) => name);
  const streams = useMemo(() => new Ensemble("stream", names, [], [0]), [String(names)]);
  const { t_s } = history;
  view.grow([t_s[0] ?? 0, Math.max(1, t_s.at(-1) ?? 1)]);
  return (
    <Section id="streams" title="Streams">
      <Table caption={caption} rows={rows} columns={columns} ensemble={streams} />
      <Wide stack={{ title: "Streams", ensemble: streams, pictures: picturesOf(history) }} view={view} />
    </Section>
  );
}

export function nameOf({ controller, l4s }: Choice): string {
  return `${controller}, L4S ${l4s ? "on" : "off"}`;
}

/** A picture with its choices. */
function Tile({ player, controllers }: { player: Player; controllers: Controllers }) {
  const choice = player.choice.value;
  return (
    <article class="column stream">
      <div class="controls">
        <label class="field">
          Controller
          <select value={choice.controller} onChange={({ currentTarget }) => player.choose({ ...choice, controller: currentTarget.value })}>
            {controllers.map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <input type="checkbox" checked={choice.l4s} onChange={({ currentTarget }) => player.choose({ ...choice, l4s: currentTarget.checked })} /> L4S
        </label>
        <span role="status">{player.said.value}</span>
      </div>
      {player.notice.value && <p class="warning">{player.notice.value}</p>}
      <video ref={(video) => player.playIn(video)} onClick={() => player.flash()} autoplay muted playsInline aria-label={`Picture of ${choice.controller}`} />
    </article>
  );
}

/** UEs of the cell in the same time. */
function BeforeThem({ cell: { now }, past, view }: { cell: Cell; past: Past; view: View }) {
  const names = now.ues.map(({ name }) => name);
  const ues = useMemo(() => new Ensemble("UE", names, [], [0]), [String(names)]);
  return (
    <Section id="cell" title={`Cell: ${now.name}`}>
      <Wide stack={{ title: "UEs", ensemble: ues, pictures: picturesOfRows(past, CELL.drawn) }} view={view} />
    </Section>
  );
}

type Shown = Now & { name: string; click: Measured };

function rowOf(player: Player, name: string, { streams }: History, index: number): Shown {
  const last = Object.fromEntries(Object.entries(streams).map(([key, rows]) => [key, rows[index]?.at(-1) ?? null])) as Now;
  return { ...last, name, click: player.click.value };
}

const COLUMNS: Column<Shown>[] = [
  text("Stream", ({ name }) => name),
  { group: "Mbit/s", head: "sent", value: ({ sent_mbps }) => sent_mbps, show: fixed(2), first: true },
  { group: "Mbit/s", head: "target", value: ({ target_mbps }) => target_mbps, show: fixed(2), first: true },
  { group: "Delay (ms)", head: "frame p95", value: ({ delay_p95_ms }) => delay_p95_ms, show: fixed(1), first: true },
  { group: "Delay (ms)", head: "round trip", value: ({ rtt_ms }) => rtt_ms, show: fixed(1), first: true },
  { group: "Delay (ms)", head: "last click", value: ({ click }) => click, show: fixed(1), first: true },
  { group: "", head: "marks per s", value: ({ marks_per_s }) => marks_per_s, show: fixed(0), first: true },
  { group: "", head: "freezes", value: ({ freezes }) => freezes, show: plain, first: true },
];
