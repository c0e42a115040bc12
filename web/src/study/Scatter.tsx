import { line } from "d3-shape";
import { COLOURS } from "../ensemble.ts";
import { Axes } from "../parts/Axis.tsx";
import { Figure } from "../parts/Figure.tsx";
import { Key } from "../parts/Key.tsx";
import { Levels } from "../parts/Lines.tsx";
import { useWidth } from "../parts/useWidth.ts";
import { type Frame, MARGIN } from "../picture.ts";
import { shapeOf } from "../shapes.ts";
import { type Scatter, frameOf, type Place, type Trace } from "./scatter.ts";

const HEIGHT = 380;

/** A picture of means with its legend. */
export function ScatterFigure({ scatter }: { scatter: Scatter }) {
  const [host, width] = useWidth<HTMLDivElement>();
  const draw = (size: { width: number; height: number }) => <Drawn scatter={scatter} {...size} />;
  const count = scatter.traces.reduce((sum, { places }) => sum + places.length, 0);
  return (
    <Figure id={scatter.id} title={scatter.title} draw={draw} cells={scatter.cells} entries={() => scatter.legend}>
      <div ref={host} class="scatter" role="img" aria-label={`${scatter.title}: ${count} means with their intervals`} style={`height: ${HEIGHT}px`}>
        {width > 0 && draw({ width, height: HEIGHT })}
      </div>
      <ul class="entries">
        {scatter.legend.map((entry) => (
          <li key={entry.name}>
            <svg class="key" width={20} height={12} viewBox="0 -6 20 12" aria-hidden="true">
              <Key {...entry} />
            </svg>
            {entry.name}
          </li>
        ))}
      </ul>
    </Figure>
  );
}

function Drawn({ scatter, width, height }: { scatter: Scatter; width: number; height: number }) {
  const frame = frameOf(scatter, { width, height });
  const { traces, front, levels, xLabel, yLabel, named } = scatter;
  const middle = (traces.length - 1) / 2;
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <g transform={`translate(${MARGIN.left},${MARGIN.top})`}>
        <Axes frame={frame} xLabel={xLabel} yLabel={yLabel} named={named} />
        <path fill="none" stroke="var(--muted)" stroke-dasharray="3 3" d={through(front, frame)} />
        {traces.map((trace, index) => (
          <Drawing key={index} trace={trace} isJoined={scatter.isJoined} frame={frame} shift={(index - middle) * scatter.apart} />
        ))}
        <Levels levels={levels} frame={frame} />
      </g>
    </svg>
  );
}

const through = (places: Place[], { x, y }: Frame): string => line<Place>((at) => x(at.x[1]), (at) => y(at.y[1])).digits(1)(places) ?? "";

/** Points of a trace with their intervals, and the line that joins them. */
function Drawing({ trace: { style, places }, isJoined, frame, shift }: { trace: Trace; isJoined: boolean; frame: Frame; shift: number }) {
  const stroke = `var(--series-${style.colour % COLOURS})`;
  const { path, dash } = shapeOf(style.shape);
  const { x, y } = frame;
  return (
    <g class="trace" stroke={stroke} transform={`translate(${shift},0)`}>
      {isJoined && <path class="line" fill="none" stroke-width={2} stroke-dasharray={dash} d={through(places, frame)} />}
      {places.map((place) => (
        <g key={place.title} class="place" transform={`translate(${x(place.x[1]).toFixed(2)},${y(place.y[1]).toFixed(2)})`}>
          <title>{place.title}</title>
          <path class="interval" stroke-width={1.4} stroke-opacity={0.75} d={bars(place, frame)} />
          <path class="mark" d={path} fill={place.isHollow ? "var(--ground)" : stroke} />
        </g>
      ))}
    </g>
  );
}

/** Intervals of a point, around its position. */
function bars({ x, y }: Place, frame: Frame): string {
  const from = (scale: Frame["x"], [low, mean, high]: Place["x"]) => [scale(low) - scale(mean), scale(high) - scale(mean)].map((end) => end.toFixed(2));
  const [[left, right], [bottom, top]] = [from(frame.x, x), from(frame.y, y)];
  return `${left === right ? "" : `M${left},0H${right}`}${bottom === top ? "" : `M0,${bottom}V${top}`}`;
}
