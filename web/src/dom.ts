/** Elements in one expression. Text goes in as text nodes, so names from a scenario can never become markup. */

type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

let made = 0;

/** An identifier that nothing else on the page has. */
export function unique(kind: string): string {
  return `${kind}-${++made}`;
}

/** One of a few, as radio buttons that look like one switch. */
export function choices<T extends string>(label: string, options: readonly (readonly [T, string])[], chosen: T, change: (value: T) => void): HTMLElement {
  const name = unique("choice");
  return el(
    "fieldset",
    { class: "choices" },
    el("legend", {}, label),
    ...options.map(([value, shown]) =>
      el(
        "label",
        {},
        el("input", { type: "radio", name, value, checked: value === chosen, onchange: () => change(value) }),
        el("span", {}, shown),
      ),
    ),
  );
}

/** The mark of a line in the plots: its colour and dash, or an empty frame. */
export function swatch(colour: number | null): HTMLElement {
  return el("span", colour === null ? { class: "swatch" } : { class: "swatch", "data-colour": colour, style: `--colour: var(--series-${colour})` });
}
