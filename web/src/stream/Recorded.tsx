import { useMemo } from "preact/hooks";
import { type Column, text } from "../columns.ts";
import { fixed, plain } from "../format.ts";
import type { Measured } from "../read.ts";
import { View } from "../view.ts";
import { lengthened, NO_HISTORY } from "./history.ts";
import { Head, nameOf, Streams } from "./Page.tsx";
import type { Choice, Now } from "./player.ts";

type Quantiles = Record<"p50" | "p95" | "p99", number>;

/** Figures of a whole stream, as `summary.json` has them. */
interface Summary extends Choice {
  feedback: string;
  seconds: number;
  rate_mbps: number;
  marks_reported: number;
  losses: number;
  frames_shown: number;
  frames_discarded: number;
  frame_delay_ms: Quantiles | null;
  click_to_picture_ms: Quantiles | null;
  ssim: Record<"p5" | "p50" | "mean", number> | null;
  browser: { freezeCount?: number } | null;
}

/** What the server wrote into the page of a stream that has ended. */
export interface RecordedStream {
  summary: Summary;
  points: (Now & { t_s: number })[];
}

/** Report of a stream: what its page showed while it ran, and figures of the whole. */
export function Recorded({ summary, points }: RecordedStream) {
  const view = useMemo(() => new View([0, 1]), []);
  const history = useMemo(() => points.reduce((past, { t_s, ...now }) => lengthened(past, t_s, [now]), NO_HISTORY), [points]);
  const rows = useMemo(() => [{ ...summary, name: nameOf(summary) }], [summary]);
  return (
    <>
      <Head title="A stream that has ended" note={`${summary.seconds.toFixed(0)} s with feedback ${summary.feedback}; each point is of a second.`} />
      <Streams caption="The whole stream" rows={rows} columns={COLUMNS} history={history} view={view} />
    </>
  );
}

const COLUMNS: Column<Summary & { name: string }>[] = [
  text("Stream", ({ name }) => name),
  { group: "", head: "Mbit/s", value: ({ rate_mbps }) => rate_mbps, show: fixed(2), first: true },
  ...(["p50", "p95", "p99"] as const).map((rank) => ({
    group: "Frame delay (ms)",
    head: rank,
    value: ({ frame_delay_ms }: Summary): Measured => frame_delay_ms?.[rank] ?? null,
    show: fixed(1),
    first: true,
  })),
  { group: "", head: "click p50 (ms)", value: ({ click_to_picture_ms }) => click_to_picture_ms?.p50 ?? null, show: fixed(1), first: true },
  ...(["p5", "p50", "mean"] as const).map((figure) => ({
    group: "SSIM",
    head: figure,
    value: ({ ssim }: Summary): Measured => ssim?.[figure] ?? null,
    show: fixed(3),
    first: true,
  })),
  { group: "", head: "freezes", value: ({ browser }) => browser?.freezeCount ?? null, show: plain, first: true },
  { group: "Frames", head: "shown", value: ({ frames_shown }) => frames_shown, show: plain, first: true },
  { group: "Frames", head: "discarded", value: ({ frames_discarded }) => frames_discarded, show: plain, first: true },
  { group: "Packets", head: "marked", value: ({ marks_reported }) => marks_reported, show: plain, first: true },
  { group: "Packets", head: "lost", value: ({ losses }) => losses, show: plain, first: true },
];
