import { useId } from "preact/hooks";
import type { Ensemble } from "../ensemble.ts";
import { Choices } from "./Choices.tsx";
import { Swatch } from "./Swatch.tsx";

/** Meaning of the colours in a column of plots, and the choice of entities, by name or by group. */
export function Legend({ title, ensemble }: { title: string; ensemble: Ensemble }) {
  return (
    <div class="legend">
      <h3>{title}</h3>
      {ensemble.many && <Picker ensemble={ensemble} />}
      {ensemble.groupings.length > 0 && <Grouped ensemble={ensemble} />}
      <ul class="entries">{ensemble.many ? <OfMany ensemble={ensemble} /> : <OfFew ensemble={ensemble} />}</ul>
    </div>
  );
}

/** Names the entity on all plots while the pointer is on it. */
const pointing = (ensemble: Ensemble, entity: number) => ({
  onMouseEnter: () => ensemble.setHovered(entity),
  onMouseLeave: () => ensemble.setHovered(null),
});

function OfFew({ ensemble }: { ensemble: Ensemble }) {
  return (
    <>
      {ensemble.names.map((name, entity) => {
        const colour = ensemble.colourOf(entity);
        return (
          <li key={name}>
            <button type="button" aria-pressed={colour !== null} onClick={() => ensemble.toggle(entity)} {...pointing(ensemble, entity)}>
              <Swatch colour={colour} />
              {name}
            </button>
          </li>
        );
      })}
    </>
  );
}

function OfMany({ ensemble }: { ensemble: Ensemble }) {
  const several = ensemble.groups.length > 1;
  return (
    <>
      {ensemble.groups.map(({ name, members, colour }) => (
        <li key={name} class="group">
          <Swatch colour={colour} />
          {name}
          {several && ` (${members.length})`} <small>{several ? "median, 10–90 %" : "median, 10–90 %, all"}</small>
        </li>
      ))}
      {ensemble.picked.map(({ entity, colour }) => (
        <li key={entity}>
          <button type="button" title={`Remove ${ensemble.names[entity]} from the plots`} onClick={() => ensemble.toggle(entity)} {...pointing(ensemble, entity)}>
            <Swatch colour={colour} />
            {ensemble.names[entity]}
            <span aria-hidden="true" class="remove">
              ×
            </span>
          </button>
        </li>
      ))}
    </>
  );
}

/** A field that picks by name; its list is made when somebody types. */
function Picker({ ensemble }: { ensemble: Ensemble }) {
  const id = useId();
  const pick = (field: HTMLInputElement): void => {
    const entity = ensemble.names.indexOf(field.value.trim());
    const list = document.getElementById(id);
    if (list?.childElementCount === 0) list.append(...ensemble.names.map((name) => new Option(name, name)));
    if (entity < 0) return;
    if (ensemble.colourOf(entity) === null) ensemble.toggle(entity);
    field.value = "";
  };
  return (
    <>
      <input type="search" list={id} placeholder={`Add ${ensemble.noun}…`} aria-label={`Add a ${ensemble.noun} to the plots by name`} onInput={(event) => pick(event.currentTarget)} />
      <datalist id={id} />
    </>
  );
}

/** The choice of groups; other legends of the same ensemble follow it. */
function Grouped({ ensemble }: { ensemble: Ensemble }) {
  const options = [...ensemble.groupings.map(({ label }) => [label, label] as const), ["", "none"] as const];
  return <Choices label="grouped by" options={options} chosen={ensemble.grouping?.label ?? ""} change={(label) => ensemble.groupBy(label || null)} />;
}
