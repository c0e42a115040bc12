import { autocompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { linter } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";
import { useEffect, useRef } from "preact/hooks";
import schema from "../../../docs/reference/scenario.schema.json";
import type { Fault } from "./answer.ts";
import { Completion, tableAt } from "./complete.ts";

const completion = new Completion(schema);

/** The page's own colours, light and dark. */
const colours = HighlightStyle.define([
  { tag: [tags.string, tags.number, tags.bool, tags.atom], color: "var(--accent)" },
  { tag: [tags.heading, tags.bracket, tags.atom], fontWeight: "600" },
  { tag: tags.comment, color: "var(--muted)" },
]);

/** Offers keys at the beginning of a line, values behind a `=`. */
function offer(context: CompletionContext): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const table = tableAt(context.state.doc.sliceString(0, line.from).split("\n"));
  const value = /^\s*([\w-]+)\s*=\s*("?[\w-]*)$/.exec(before);
  if (value !== null) return { from: context.pos - (value[2]?.length ?? 0), options: completion.values([...table, value[1] ?? ""]) };
  const key = /^\s*([\w-]*)$/.exec(before)?.[1];
  if (key === undefined || (key === "" && !context.explicit)) return null;
  return { from: context.pos - key.length, options: completion.keys(table) };
}

interface Props {
  text: string;
  change: (text: string) => void;
  /** All errors in the text. */
  faults: (text: string) => Promise<Fault[]>;
}

/** An editor for a scenario, which says what is wrong, and where. */
export function Editor({ text, change, faults }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const asked = useRef({ change, faults });
  asked.current = { change, faults };
  useEffect(() => {
    const lint = linter(
      async ({ state }) => {
        const whole = state.doc.length;
        const found = await asked.current.faults(state.doc.toString());
        return found.map(({ message, place }) => ({ from: Math.min(place?.[0] ?? 0, whole), to: Math.min(place?.[1] ?? 0, whole), severity: "error" as const, message }));
      },
      { delay: 300 },
    );
    const extensions = [
      basicSetup,
      StreamLanguage.define(toml),
      syntaxHighlighting(colours),
      EditorView.lineWrapping,
      autocompletion({ override: [offer] }),
      lint,
      EditorView.contentAttributes.of({ "aria-label": "scenario" }),
      EditorView.updateListener.of((update) => update.docChanged && asked.current.change(update.state.doc.toString())),
    ];
    view.current = new EditorView({ parent: host.current as HTMLElement, state: EditorState.create({ doc: text, extensions }) });
    return () => view.current?.destroy();
  }, []);
  useEffect(() => {
    const state = view.current?.state;
    if (state !== undefined && state.doc.toString() !== text) view.current?.dispatch({ changes: { from: 0, to: state.doc.length, insert: text } });
  }, [text]);
  return <div class="editor" ref={host} />;
}
