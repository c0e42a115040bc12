/** Plays streams, and shows what they and the cell before them do. */

import { signal } from "@preact/signals";
import { render } from "preact";
import { sender, tokenIn } from "../controls.ts";
import { CELL } from "../live/cell.tsx";
import { followed, type Past, started } from "../live/kind.ts";
import { type History, lengthened, NO_HISTORY } from "./history.ts";
import { type Cell, type Controllers, Page } from "./Page.tsx";
import { Player } from "./player.ts";

/** Time between two points of the plots, and between two reports to the server. */
const LOOK_MS = 500;
const TELL_MS = 1_000;
/** Time between two clicks of a page that clicks by itself. */
const CLICK_MS = 1_500;
const MAX_STREAMS = 2;

/** Plays the streams that the page's address asks for. */
export async function play(main: HTMLElement): Promise<void> {
  const asked = new URLSearchParams(location.search);
  const token = tokenIn(location.hash);
  const { controllers, chosen, l4s } = (await (await fetch("/controllers")).json()) as { controllers: Controllers; chosen: string; l4s: boolean };

  const isL4s = (asked.get("l4s") ?? String(Number(l4s))) !== "0";
  const player = (controller: string): Player => new Player({ controller, l4s: isL4s });
  const players = signal([asked.get("controller") ?? chosen, ...asked.getAll("beside")].slice(0, MAX_STREAMS).map(player));
  const history = signal<History>(NO_HISTORY);
  const cell = signal<Cell | null>(null);
  const past = signal<Past>(started(CELL.drawn));

  /** Adds a point to the plots. */
  async function look(): Promise<void> {
    const now_s = performance.now() / 1000;
    const now = await Promise.all(players.value.map((player) => player.look()));
    const answer = await fetch("/cell").catch(() => null);
    cell.value = answer?.ok ? ((await answer.json()) as Cell | null) : null;
    history.value = lengthened(history.value, now_s, now);
    if (cell.value) past.value = followed(past.value, now_s, cell.value.now.ues);
    setTimeout(look, LOOK_MS);
  }

  function Whole() {
    const add = players.value.length < MAX_STREAMS ? () => (players.value = [...players.value, player("gcc")]) : null;
    const send = token === null ? null : sender(token);
    return <Page controllers={controllers} players={players} history={history} cell={cell} past={past} add={add} send={send} />;
  }

  render(<Whole />, main);
  void look();
  setInterval(() => players.value.forEach((player) => player.tell()), TELL_MS);
  if (asked.has("seconds")) setTimeout(() => players.value.forEach((player) => player.finish()), 1000 * Number(asked.get("seconds")));
  if (asked.has("clicks")) setInterval(() => players.value.forEach((player) => player.flash()), CLICK_MS);
  addEventListener("pagehide", () => players.value.forEach((player) => player.leave()));
}
