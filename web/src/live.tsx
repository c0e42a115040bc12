/** The page of a live cell, CU or hop: its current state, and a report's plots, which continue. */

import { signal } from "@preact/signals";
import { render } from "preact";
import { type Controlled, sender, tokenIn } from "./controls.ts";
import { followed, type Now, type Past, started } from "./live/kind.ts";
import { kindOf } from "./live/kinds.ts";
import { LivePage } from "./parts/LivePage.tsx";
import { MOST } from "./series.ts";
import "./style.css";
import { startTheme } from "./theme.ts";

const main = document.getElementById("live") as HTMLElement;
const now = signal<Now | null>(null);
const past = signal<Past>(started([]));
const controlled = signal<Controlled | null>(null);
const ended = signal(false);
const token = tokenIn(location.hash);

startTheme();
main.replaceChildren();
render(<LivePage now={now} past={past} ended={ended} controlled={controlled} send={token === null ? null : sender(token)} />, main);

/** Follows the program's stream: first its past, then its state at regular intervals. */
function listen(): void {
  const events = new EventSource("/events");
  events.addEventListener("past", ({ data }) => {
    ended.value = false;
    past.value = JSON.parse(data) as Past;
  });
  events.addEventListener("controls", ({ data }) => (controlled.value = JSON.parse(data) as Controlled));
  events.onmessage = ({ data }) => {
    const state = JSON.parse(data) as Now;
    past.value = followed(past.value, state.t_s, kindOf(state).rows(state));
    now.value = state;
    if (past.value.t_s.length < MOST) return;
    events.close();
    listen();
  };
  events.onerror = () => (ended.value = true);
}

listen();
