import { brushX, type D3BrushEvent } from "d3-brush";
import { select } from "d3-selection";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Frame } from "../picture.ts";
import type { View } from "../view.ts";

/** Pixels below which a drag counts as a click. */
const SHORT = 4;

interface Props {
  frame: Frame;
  view: View;
  /** Takes a click where it can. */
  pick: () => boolean;
}

/** A drag zooms, a click chooses a moment. A finger scrolls the page. */
export function Brush({ frame: { x, width, height }, view, pick }: Props) {
  const layer = useRef<SVGGElement>(null);
  // A brush lives longer than the lines below it, which may change between the two clicks of a double click.
  const now = useRef({ x, pick });
  now.current = { x, pick };
  useLayoutEffect(() => {
    const brush = brushX<unknown>()
      .extent([[0, 0], [width, height]])
      .touchable(false)
      .keyModifiers(false);
    const group = select(layer.current as SVGGElement);
    brush.on("end", ({ selection, sourceEvent }: D3BrushEvent<unknown>) => {
      if (!sourceEvent) return;
      const [from, to] = (selection ?? [0, 0]) as [number, number];
      const { x, pick } = now.current;
      if (to - from > SHORT) view.zoom([x.invert(from), x.invert(to)]);
      else if (!pick()) view.moment.value = view.cursor.value;
      group.call(brush.clear);
    });
    group.call(brush).style("touch-action", null);
    return () => {
      group.on(".brush", null).selectAll("*").remove();
    };
  }, [view, width, height]);
  return <g class="brush" ref={layer} />;
}
