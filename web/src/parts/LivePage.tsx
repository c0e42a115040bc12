import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Controlled, Send } from "../controls.ts";
import { Ensemble } from "../ensemble.ts";
import { type Now, type Past, picturesOf } from "../live/kind.ts";
import { kindOf } from "../live/kinds.ts";
import { View } from "../view.ts";
import { Controls } from "./Controls.tsx";
import { Facts } from "./Facts.tsx";
import { Section } from "./Section.tsx";
import { Wide } from "./Stacks.tsx";
import { Table } from "./Table.tsx";
import { Theme } from "./Theme.tsx";

interface Props {
  now: Signal<Now | null>;
  past: Signal<Past>;
  ended: Signal<boolean>;
  controlled: Signal<Controlled | null>;
  /** Sends commands; null for a page that has no token. */
  send: Send | null;
}

/** Page of a live program: its state, and what it did since its start. */
export function LivePage({ now, past, ended, controlled, send }: Props) {
  if (now.value === null) return <h1>{ended.value ? "The program can't be reached" : "Connecting to the program"}</h1>;
  const controls = controlled.value && send && <Controls controlled={controlled.value} send={send} />;
  return <Running now={now.value} past={past.value} hasEnded={ended.value} controls={controls} />;
}

function Running({ now, past, hasEnded, controls }: { now: Now; past: Past; hasEnded: boolean; controls: ComponentChildren }) {
  const { program, noun, title, columns, drawn, ...kind } = kindOf(now);
  const rows = kind.rows(now);
  const names = rows.map(kind.nameOf);
  const ensemble = useMemo(() => new Ensemble(noun, names, [], [0]), [String(names)]);
  const view = useMemo(() => new View([0, 1]), []);
  view.grow([0, Math.max(1, past.t_s.at(-1) ?? 1)]);
  return (
    <>
      <header>
        <div class="title">
          <h1>{now.name}</h1>
          <Theme />
        </div>
        <Facts facts={kind.facts(now)} />
        {hasEnded && <p class="note">The {program} has ended, or can't be reached.</p>}
        <div role="status">{now.warning != null && <p class="warning">{now.warning}</p>}</div>
      </header>
      <Section id="rows" title={title}>
        <Table caption={`${title} now`} rows={rows} columns={columns} ensemble={ensemble} />
      </Section>
      {controls}
      {kind.above?.(now)}
      <Section id="time" title="Since the start">
        <Wide stack={{ title, ensemble, pictures: picturesOf(past, drawn) }} view={view} />
      </Section>
      {kind.below?.(now)}
    </>
  );
}
