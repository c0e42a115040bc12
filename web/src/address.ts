/** Keeps the page's address in step with what the page shows. */

import { effect } from "@preact/signals";
import type { Ensemble } from "./ensemble.ts";
import { fragment, type Kept, read } from "./link.ts";
import type { Sets } from "./sets.ts";
import type { View } from "./view.ts";

/** Shows what the address keeps, and keeps in the address what is shown. */
export function followAddress(view: View, sets: Sets): void {
  const first = { flows: picked(sets.flows), ues: picked(sets.ues) };
  let written = "";
  const show = (): void => {
    const kept = read(location.hash);
    view.zoom(kept.range);
    view.moment.value = kept.moment;
    for (const key of ["flows", "ues"] as const) pick(sets[key], kept[key]);
    if (kept.panel !== null) document.getElementById(kept.panel)?.scrollIntoView({ block: "center" });
  };
  if (location.hash !== "") show();
  addEventListener("hashchange", () => location.hash.replace(/^#/, "") !== written && show());
  effect(() => {
    const changed = (key: "flows" | "ues"): string[] | null => ((names) => (String(names) === String(first[key]) ? null : names))(picked(sets[key]));
    const kept: Kept = { range: view.range.value, moment: view.moment.value, flows: changed("flows"), ues: changed("ues"), panel: null };
    written = fragment(kept);
    const { panel } = read(location.hash);
    if (fragment({ ...kept, panel }) !== location.hash.replace(/^#/, "")) history.replaceState(null, "", `${location.pathname}${location.search}${written && `#${written}`}`);
  });
}

const picked = (of: Ensemble): string[] => of.picked.map(({ entity }) => of.names[entity] ?? "");

function pick(of: Ensemble, names: string[] | null): void {
  if (names !== null) of.pick(names.flatMap((name) => ((index) => (index < 0 ? [] : [index]))(of.names.indexOf(name))));
}
