/** The legend of a column of plots: what the colours mean, and what is picked, by name or by group. */

import { choices, el, swatch, unique } from "./dom.ts";
import type { Ensemble } from "./ensemble.ts";

export function legend(title: string, ensemble: Ensemble): HTMLElement {
  const entries = el("ul", { class: "entries" });
  const write = (): void => entries.replaceChildren(...(ensemble.many ? ofMany(ensemble) : ofFew(ensemble)));
  ensemble.subscribe((picked) => {
    if (picked) write();
  });
  write();
  return el("div", { class: "legend" }, el("h3", {}, title), ...(ensemble.many ? [...picker(ensemble), ...grouping(ensemble)] : []), entries);
}

function ofFew(ensemble: Ensemble): HTMLElement[] {
  return ensemble.names.map((name, entity) => {
    const colour = ensemble.colourOf(entity);
    const button = el(
      "button",
      {
        type: "button",
        "aria-pressed": String(colour !== null),
        onclick: () => ensemble.toggle(entity),
        onmouseenter: () => ensemble.setHovered(entity),
        onmouseleave: () => ensemble.setHovered(null),
      },
      swatch(colour),
      name,
    );
    return el("li", {}, button);
  });
}

function ofMany(ensemble: Ensemble): HTMLElement[] {
  const groups = ensemble.groups.map(({ name, members, colour }) => {
    const size = ensemble.groups.length > 1 ? ` (${members.length})` : "";
    const note = ensemble.groups.length > 1 ? "median, 10–90 %" : "median, 10–90 %, all";
    return el("li", { class: "group" }, swatch(colour), `${name}${size} `, el("small", {}, note));
  });
  const lines = ensemble.picked.map(({ entity, colour }) =>
    el(
      "li",
      {},
      el(
        "button",
        {
          type: "button",
          title: `Take ${ensemble.names[entity]} off the plots`,
          onclick: () => ensemble.toggle(entity),
          onmouseenter: () => ensemble.setHovered(entity),
          onmouseleave: () => ensemble.setHovered(null),
        },
        swatch(colour),
        ensemble.names[entity] ?? "",
        el("span", { "aria-hidden": "true", class: "remove" }, "×"),
      ),
    ),
  );
  return [...groups, ...lines];
}

/** A field that picks by name. */
function picker(ensemble: Ensemble): HTMLElement[] {
  const id = unique("names");
  const field = el("input", {
    type: "search",
    list: id,
    placeholder: `Add ${ensemble.noun}…`,
    "aria-label": `Add a ${ensemble.noun} to the plots by name`,
    oninput: () => {
      const entity = ensemble.names.indexOf(field.value.trim());
      if (entity < 0) return;
      if (ensemble.colourOf(entity) === null) ensemble.toggle(entity);
      field.value = "";
    },
  });
  return [field, el("datalist", { id }, ...ensemble.names.map((name) => el("option", { value: name })))];
}

/** The choice of groups; other legends of the same ensemble follow it. */
function grouping(ensemble: Ensemble): HTMLElement[] {
  if (ensemble.groupings.length === 0) return [];
  const options = [...ensemble.groupings.map((g) => [g.label, g.label] as const), ["", "none"] as const];
  const form = choices("grouped by", options, ensemble.grouping?.label ?? "", (label) => ensemble.groupBy(label || null));
  ensemble.subscribe(() => {
    for (const input of form.querySelectorAll("input")) input.checked = input.value === (ensemble.grouping?.label ?? "");
  });
  return [form];
}
