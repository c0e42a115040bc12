/** Six lessons: a scenario, what is changed in it, and figures that both runs are expected to show. */

import type { RunResult } from "../fields.ts";
import crowd from "./lessons/crowd.toml?raw";
import game from "./lessons/game.toml?raw";
import moving from "./lessons/moving-bottleneck.toml?raw";
import unanswered from "./lessons/no-answer.toml?raw";
import onFoot from "./lessons/on-foot.toml?raw";
import millisecond from "./lessons/one-millisecond.toml?raw";

export interface Figure {
  label: string;
  unit: string;
  of: (run: RunResult) => number | null | undefined;
  /** Least and most in the scenario as it stands, and with the change, as seeds 1 to 3 have shown with room on both sides. */
  first: [number, number];
  second: [number, number];
}

export interface Lesson {
  title: string;
  question: string;
  text: string;
  /** What the second run changes. */
  change: string[];
  figures: Figure[];
  answer: string;
}

const flow = (run: RunResult, name: string) => run.flows.find((one) => one.name === name);

export const LESSONS: Lesson[] = [
  {
    title: "Somebody walks",
    question: "How long does a download wait in the base station, with marks and without?",
    text: onFoot,
    change: ["marker.law=none"],
    figures: [
      { label: "median wait in the RLC queue", unit: "ms", of: (run) => flow(run, "download")?.queue_ms?.p50, first: [8, 25], second: [500, 1200] },
      { label: "throughput", unit: "Mbit/s", of: (run) => flow(run, "download")?.throughput_mbps, first: [20, 30], second: [20, 30] },
    ],
    answer: "CUBIC fills whatever queue there is: a second of it. Ten marks in half a minute keep it at 14 ms, for 4 % of the rate.",
  },
  {
    title: "A threshold of 1 ms",
    question: "Why does it starve Prague behind a TDD cell?",
    text: millisecond,
    change: ["marker.threshold=10 ms"],
    figures: [
      { label: "throughput", unit: "Mbit/s", of: (run) => flow(run, "prague")?.throughput_mbps, first: [10, 18], second: [27, 34] },
      { label: "median wait in the RLC queue", unit: "ms", of: (run) => flow(run, "prague")?.queue_ms?.p50, first: [2, 6], second: [7, 13] },
    ],
    answer: "Packets wait for the next downlink slot, 2.5 ms apart, even where no queue stands. A mark at 1 ms tells the sender of the frame structure and not of a queue: it halves for nothing.",
  },
  {
    title: "A crowd",
    question: "Do sixteen phones share a wide cell fairly, and what do marks change?",
    text: crowd,
    change: ["marker.law=none"],
    figures: [
      { label: "throughput of the first Prague", unit: "Mbit/s", of: (run) => flow(run, "prague-1")?.throughput_mbps, first: [15, 20], second: [15, 20] },
      { label: "throughput of the first CUBIC", unit: "Mbit/s", of: (run) => flow(run, "cubic-1")?.throughput_mbps, first: [15, 20], second: [15, 20] },
      { label: "its median wait with Prague", unit: "ms", of: (run) => flow(run, "prague-1")?.queue_ms?.p50, first: [15, 40], second: [1000, 2000] },
    ],
    answer: "The scheduler gives each phone its share in any case. Marks take nothing from it, and the wait falls from 1.4 s to 27 ms.",
  },
  {
    title: "A bottleneck that moves",
    question: "What do marks of the cell help where the queue is elsewhere?",
    text: moving,
    change: ['router.0.queue={ discipline = "drop-tail" }'],
    figures: [
      { label: "95th percentile of the round trip", unit: "ms", of: (run) => flow(run, "cubic")?.rtt_ms?.p95, first: [40, 75], second: [200, 450] },
      { label: "throughput", unit: "Mbit/s", of: (run) => flow(run, "cubic")?.throughput_mbps, first: [20, 26], second: [19, 26] },
    ],
    answer: "For ten seconds the first router is the narrowest place. With CoDel it keeps its queue short; a drop-tail queue there adds a third of a second, and no mark of the cell can help.",
  },
  {
    title: "Nobody answers",
    question: "What if a flow asks for L4S and ignores its marks?",
    text: unanswered,
    change: ["marker.overload_protection=false"],
    figures: [
      { label: "median wait beside it", unit: "ms", of: (run) => flow(run, "beside")?.queue_ms?.p50, first: [10, 60], second: [1000, 6000] },
      { label: "throughput of a phone elsewhere", unit: "Mbit/s", of: (run) => flow(run, "elsewhere")?.throughput_mbps, first: [18, 22], second: [18, 22] },
    ],
    answer: "Marks without an answer become drops. Without that protection the flood fills its phone's queue for seconds; other phones have queues of their own.",
  },
  {
    title: "A game on a train",
    question: "How late is a frame, with marks and without?",
    text: game,
    change: ["marker.law=none"],
    figures: [
      { label: "99th percentile of frames' delay", unit: "ms", of: (run) => flow(run, "game")?.media?.delay_ms?.p99, first: [45, 80], second: [82, 125] },
      { label: "throughput", unit: "Mbit/s", of: (run) => flow(run, "game")?.throughput_mbps, first: [7, 11], second: [7, 11] },
    ],
    answer: "SCReAM sees a fade in its own round trips, later than the base station does. Marks take 30 ms off the slowest frames for the same picture.",
  },
];
