/** Six lessons: a scenario, a change to it, and the expected figures of both runs. */

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
  /** Lowest and highest value in the original scenario, and with the change. Seeds 1 to 3 lie well within. */
  first: [number, number];
  second: [number, number];
}

export interface Lesson {
  title: string;
  question: string;
  text: string;
  /** Changes of the second run. */
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
    answer: "CUBIC fills any queue, here with a second of data. Ten marks in half a minute keep the queue at 14 ms and cost 4 % of the rate.",
  },
  {
    title: "A threshold of 1 ms",
    question: "Why does this threshold starve Prague behind a TDD cell?",
    text: millisecond,
    change: ["marker.threshold=10 ms"],
    figures: [
      { label: "throughput", unit: "Mbit/s", of: (run) => flow(run, "prague")?.throughput_mbps, first: [10, 18], second: [27, 34] },
      { label: "median wait in the RLC queue", unit: "ms", of: (run) => flow(run, "prague")?.queue_ms?.p50, first: [2, 6], second: [7, 13] },
    ],
    answer: "Even without a queue, packets wait for the next downlink slot, and slots are 2.5 ms apart. A mark at 1 ms therefore shows the frame structure, not a queue, and the sender slows down for nothing.",
  },
  {
    title: "A crowd",
    question: "Do sixteen phones share a wide cell fairly, and what do marks change?",
    text: crowd,
    change: ["marker.law=none"],
    figures: [
      { label: "throughput of the first Prague", unit: "Mbit/s", of: (run) => flow(run, "prague-1")?.throughput_mbps, first: [15, 20], second: [15, 20] },
      { label: "throughput of the first CUBIC", unit: "Mbit/s", of: (run) => flow(run, "cubic-1")?.throughput_mbps, first: [15, 20], second: [15, 20] },
      { label: "median wait of the first Prague", unit: "ms", of: (run) => flow(run, "prague-1")?.queue_ms?.p50, first: [15, 40], second: [1000, 2000] },
    ],
    answer: "The scheduler gives each phone its share with or without marks. Marks do not change the shares, but cut the wait from 1.4 s to 27 ms.",
  },
  {
    title: "A bottleneck that moves",
    question: "Do the cell's marks help if the queue is elsewhere?",
    text: moving,
    change: ['router.0.queue={ discipline = "drop-tail" }'],
    figures: [
      { label: "95th percentile of the round trip", unit: "ms", of: (run) => flow(run, "cubic")?.rtt_ms?.p95, first: [40, 75], second: [200, 450] },
      { label: "throughput", unit: "Mbit/s", of: (run) => flow(run, "cubic")?.throughput_mbps, first: [20, 26], second: [19, 26] },
    ],
    answer: "For ten seconds the first router is the bottleneck. CoDel keeps its queue short. A drop-tail queue there adds a third of a second, and the cell's marks can't help.",
  },
  {
    title: "Nobody answers",
    question: "What if a flow asks for L4S and ignores its marks?",
    text: unanswered,
    change: ["marker.overload_protection=false"],
    figures: [
      { label: "median wait of the flow beside it", unit: "ms", of: (run) => flow(run, "beside")?.queue_ms?.p50, first: [10, 60], second: [1000, 6000] },
      { label: "throughput of another phone", unit: "Mbit/s", of: (run) => flow(run, "elsewhere")?.throughput_mbps, first: [18, 22], second: [18, 22] },
    ],
    answer: "Overload protection turns unanswered marks into drops. Without it, the flood fills its phone's queue with seconds of data. Other phones have their own queues.",
  },
  {
    title: "A game on a train",
    question: "How late are frames, with marks and without?",
    text: game,
    change: ["marker.law=none"],
    figures: [
      { label: "99th percentile of frames' delay", unit: "ms", of: (run) => flow(run, "game")?.media?.delay_ms?.p99, first: [45, 80], second: [82, 125] },
      { label: "throughput", unit: "Mbit/s", of: (run) => flow(run, "game")?.throughput_mbps, first: [7, 11], second: [7, 11] },
    ],
    answer: "SCReAM notices a fade by its round trips, later than the base station does. Marks cut 30 ms from the slowest frames, with the same picture quality.",
  },
];
