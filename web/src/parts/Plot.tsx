import { bisectCenter } from "d3-array";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { nearest } from "../bands.ts";
import type { Ensemble } from "../ensemble.ts";
import { type Bands, bandsOf, cellsOf, type Frame, frameOf, MARGIN, type Picture } from "../picture.ts";
import { entriesOf } from "../take.tsx";
import type { View } from "../view.ts";
import { Brush } from "./Brush.tsx";
import { Chart } from "./Chart.tsx";
import { Cursor } from "./Cursor.tsx";
import { Figure } from "./Figure.tsx";
import { Readout, valuesAt } from "./Readout.tsx";
import { useWidth } from "./useWidth.ts";

const HEIGHT = 210;
/** Distance in pixels within which the pointer finds a line. */
const REACH = 24;
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };

interface Props {
  picture: Picture;
  ensemble: Ensemble;
  view: View;
}

/** A plot with its cursor, zoom and buttons that save it. */
export function Plot({ picture, ensemble, view }: Props) {
  const [host, width] = useWidth<HTMLDivElement>();
  const { groups } = ensemble;
  const bands = useMemo(() => bandsOf(picture, groups), [picture, groups]);
  const draw = (size: { width: number; height: number }) => {
    const frame = frameOf(picture, bands, ensemble.picked, view, size);
    return <Chart picture={picture} ensemble={ensemble} bands={bands} frame={frame} />;
  };
  return (
    <Figure
      id={picture.id}
      title={picture.title}
      note={<Readout picture={picture} ensemble={ensemble} bands={bands} view={view} />}
      draw={draw}
      cells={() => cellsOf(picture, ensemble, view)}
      entries={() => entriesOf(ensemble)}
    >
      <Slider picture={picture} ensemble={ensemble} bands={bands} view={view}>
        <div ref={host} style={`height: ${HEIGHT}px`}>
          {width > 0 && <Drawn picture={picture} ensemble={ensemble} bands={bands} view={view} width={width} />}
        </div>
      </Slider>
    </Figure>
  );
}

/** The drawing with the parts that follow the pointer. */
function Drawn({ picture, ensemble, bands, view, width }: Props & { bands: Bands; width: number }) {
  const frame = frameOf(picture, bands, ensemble.picked, view, { width, height: HEIGHT });
  return (
    <div
      onPointerMove={(event) => point(event, picture, ensemble, view, frame)}
      onPointerLeave={() => {
        ensemble.setHovered(null);
        view.cursor.value = null;
      }}
      onDblClick={() => view.zoom(null)}
    >
      <Chart picture={picture} ensemble={ensemble} bands={bands} frame={frame}>
        <Cursor picture={picture} ensemble={ensemble} view={view} frame={frame} />
        <Brush frame={frame} view={view} pick={() => pickPointedAt(ensemble)} />
      </Chart>
    </div>
  );
}

/** Moves the cursor to the pointer, and names the nearest line. */
function point(event: PointerEvent, picture: Picture, ensemble: Ensemble, view: View, frame: Frame): void {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const [left, top] = [event.clientX - box.left - MARGIN.left, event.clientY - box.top - MARGIN.top];
  if (left < 0 || left > frame.width) return;
  const index = bisectCenter(picture.x, frame.x.invert(left));
  view.cursor.value = picture.x[index] ?? null;
  const entity = nearest(picture.rows, index, frame.y.invert(top));
  const value = entity === null ? null : picture.rows[entity]?.[index];
  ensemble.setHovered(value != null && Math.abs(frame.y(value) - top) <= REACH ? entity : null);
}

/** Keeps what is under the pointer; false if there is nothing. */
function pickPointedAt(ensemble: Ensemble): boolean {
  const { hovered, many } = ensemble;
  if (hovered === null || !many) return false;
  ensemble.toggle(hovered);
  return true;
}

type SliderProps = Props & { bands: Bands; children: ComponentChildren };

/** The plot for readers without a pointer: a slider over the axis that reads out the values there. */
function Slider({ picture, ensemble, bands, view, children }: SliderProps) {
  const { x, title, yLabel, xLabel, place } = picture;
  const at = view.cursor.value;
  const said = at === null ? "nowhere" : [place(at), ...valuesAt(picture, ensemble, bands, at).map(({ name, value }) => `${name} ${value}`)].join(", ");
  const handle = (event: KeyboardEvent): void => {
    if (key(event.key, picture, view)) event.preventDefault();
  };
  return (
    <div
      class="plot"
      tabIndex={0}
      role="slider"
      aria-label={`${title}, ${yLabel}, over ${xLabel}. Arrow keys move the cursor, plus and minus zoom, Enter chooses a moment, Escape shows everything.`}
      aria-valuemin={x[0] ?? 0}
      aria-valuemax={x.at(-1) ?? 0}
      aria-valuenow={at ?? x[0] ?? 0}
      aria-valuetext={said}
      onKeyDown={handle}
    >
      {children}
    </div>
  );
}

/** Handles a key; false for a key without a function. */
function key(name: string, { x }: Picture, view: View): boolean {
  const at = view.cursor.value;
  const step = STEPS[name];
  if (step !== undefined) {
    const from = at === null ? (step > 0 ? -1 : x.length) : bisectCenter(x, at);
    view.cursor.value = x[Math.max(0, Math.min(x.length - 1, from + step))] ?? null;
  } else if (name === "+" || name === "-") {
    const [from, to] = view.shown;
    const share = at === null ? 0.5 : (at - from) / (to - from);
    view.zoomBy(name === "+" ? 0.5 : 2, share, (part) => from + part * (to - from));
  } else if (name === "Enter") view.moment.value = at;
  else if (name === "Escape") {
    view.cursor.value = null;
    view.moment.value = null;
    view.zoom(null);
  } else return false;
  return true;
}

