import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Ensemble } from "../ensemble.ts";
import { type Bands, type Frame, MARGIN, type Picture } from "../picture.ts";
import { Axes } from "./Axis.tsx";
import { Lines } from "./Lines.tsx";

/** Heights of labels, used in turn so that neighbours don't cover each other: above the plot and inside it. */
const ROWS = [-3, 24, 35];
/** More labels than this would cover the plot: then the lines have no labels, and the list below it names them. */
const MOST_LABELS = 6;

interface Props {
  picture: Picture;
  ensemble: Ensemble;
  bands: Bands;
  frame: Frame;
  children?: ComponentChildren;
}

/** The drawing of a plot; what reacts to the reader is added as children. */
export function Chart({ picture, ensemble, bands, frame, children }: Props) {
  const clip = useId();
  const size = { width: frame.width + MARGIN.left + MARGIN.right, height: frame.height + MARGIN.top + MARGIN.bottom };
  return (
    <svg {...size} viewBox={`0 0 ${size.width} ${size.height}`} aria-hidden="true">
      <clipPath id={clip}>
        <rect width={frame.width} height={frame.height} />
      </clipPath>
      <g transform={`translate(${MARGIN.left},${MARGIN.top})`}>
        <g clip-path={`url(#${clip})`}>
          <Warmup picture={picture} frame={frame} />
          <Spans picture={picture} frame={frame} ensemble={ensemble} />
        </g>
        <Axes frame={frame} xLabel={picture.xLabel} yLabel={picture.yLabel} />
        <g clip-path={`url(#${clip})`}>
          <Lines picture={picture} frame={frame} bands={bands} picked={ensemble.picked} />
        </g>
        <Happenings picture={picture} frame={frame} />
        {children}
      </g>
    </svg>
  );
}

function Warmup({ picture: { warmup }, frame: { x, height } }: { picture: Picture; frame: Frame }) {
  return warmup ? <rect class="warmup" fill="var(--raised)" width={Math.max(0, x(warmup))} height={height} /> : null;
}

/** Spans of the entities that have a line; those of all others would hide the plot. */
function Spans({ picture: { spans = [] }, frame: { x, height }, ensemble }: { picture: Picture; frame: Frame; ensemble: Ensemble }) {
  return (
    <>
      {spans.map(({ entity, from, to }) => {
        const colour = ensemble.colourOf(entity);
        if (colour === null) return null;
        // A freeze of a second must be visible in a run of an hour too.
        const width = Math.max(1, x(to) - x(from));
        return <rect key={`${entity} ${from}`} class="span" fill={`var(--series-${colour})`} fill-opacity={0.25} x={x(from)} width={width} height={height} />;
      })}
    </>
  );
}

function Happenings({ picture: { happenings = [] }, frame: { x, width, height } }: { picture: Picture; frame: Frame }) {
  const shown = happenings.filter(({ t_s }) => x(t_s) >= 0 && x(t_s) <= width);
  return (
    <>
      {shown.map(({ t_s, label }, index) => (
        <g key={`${t_s} ${label}`} class="happening" transform={`translate(${x(t_s).toFixed(1)},0)`}>
          <line y2={height} stroke="var(--muted)" stroke-dasharray="4 3" />
          {shown.length <= MOST_LABELS && (
            <text x={x(t_s) > width * 0.75 ? -3 : 3} y={ROWS[index % ROWS.length]} text-anchor={x(t_s) > width * 0.75 ? "end" : "start"} fill="var(--muted)">
              {label}
            </text>
          )}
        </g>
      ))}
    </>
  );
}
