/** The simulator, in a thread of its own: the page stays alive while it works. */

import type { Request } from "./answer.ts";
import { instantiate } from "./simulator.js";

export type Call = "check" | "run";

export type Task = { module: WebAssembly.Module } | { call: Call; request: Request };
export type News = { progress: number } | { answer: string };

let simulator: ReturnType<typeof instantiate> | undefined;

self.onmessage = async ({ data }: MessageEvent<Task>) => {
  if ("module" in data) {
    simulator = instantiate(data.module, (progress) => self.postMessage({ progress } satisfies News));
    return;
  }
  const answer = (await simulator)?.(data.call, data.request) ?? "";
  self.postMessage({ answer } satisfies News);
};
