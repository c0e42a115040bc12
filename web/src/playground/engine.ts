/** Two threads with the simulator: one that checks what is typed, one that runs. */

import type { Answer, Request } from "./answer.ts";
import type { Call, News, Task } from "./worker.ts";
import Thread from "./worker.ts?worker&inline";

/** Answers one question after the other. */
class Worked {
  private thread: Worker;
  private module: WebAssembly.Module;
  private last: Promise<unknown> = Promise.resolve();
  private giveUp: (why: Error) => void = () => {};

  constructor(module: WebAssembly.Module) {
    this.module = module;
    this.thread = this.start();
  }

  private start(): Worker {
    const thread = new Thread();
    thread.postMessage({ module: this.module } satisfies Task);
    return thread;
  }

  ask(call: Call, request: Request, progress: (share: number) => void = () => {}): Promise<Answer> {
    const answer = this.last.then(
      () =>
        new Promise<Answer>((resolve, reject) => {
          this.giveUp = reject;
          this.thread.onerror = ({ message }) => reject(new Error(message));
          this.thread.onmessage = ({ data }: MessageEvent<News>) => ("progress" in data ? progress(data.progress) : resolve(JSON.parse(data.answer) as Answer));
          this.thread.postMessage({ call, request } satisfies Task);
        }),
    );
    this.last = answer.catch(() => {});
    return answer;
  }

  /** Aborts the current question, which fails. */
  stop(): void {
    this.thread.terminate();
    this.thread = this.start();
    this.giveUp(new Error("stopped"));
  }
}

export class Engine {
  private checking: Worked;
  private running: Worked;

  private constructor(module: WebAssembly.Module) {
    this.checking = new Worked(module);
    this.running = new Worked(module);
  }

  /** An engine of the module's text: gzip in base64. */
  static async of(module: string): Promise<Engine> {
    const packed = Uint8Array.from(atob(module), (character) => character.charCodeAt(0));
    const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    return new Engine(await WebAssembly.compile(bytes));
  }

  check(request: Request): Promise<Answer> {
    return this.checking.ask("check", request);
  }

  run(request: Request, progress: (share: number) => void): Promise<Answer> {
    return this.running.ask("run", request, progress);
  }

  stop(): void {
    this.running.stop();
  }
}
