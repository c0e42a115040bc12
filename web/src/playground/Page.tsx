import { useEffect, useState } from "preact/hooks";
import { Choices } from "../parts/Choices.tsx";
import { read, write } from "./address.ts";
import { type Fault, type Request, type Run, runOf } from "./answer.ts";
import { Comparison, Expected } from "./Comparison.tsx";
import { Editor } from "./Editor.tsx";
import type { Engine } from "./engine.ts";
import { Knobs } from "./Knobs.tsx";
import { command } from "./knobs.ts";
import { type Lesson, LESSONS } from "./lessons.ts";

const FIRST: Request = { text: LESSONS[0]?.text ?? "", set: [] };

interface Props {
  engine: Engine;
}

/** The playground: a scenario, its usual parameters, two runs side by side, lessons, and the report of a run. */
export function Page({ engine }: Props) {
  const [request, setRequest] = useState<Request>(FIRST);
  const [lesson, setLesson] = useState<Lesson | null>(null);
  const [progress, setProgress] = useState<number | null>(null);
  const [faults, setFaults] = useState<string[]>([]);
  const [runs, setRuns] = useState<{ a?: Run; b?: Run }>({});
  const [seen, setSeen] = useState<"a" | "b">("a");

  useEffect(() => {
    const follow = async (): Promise<void> => {
      const linked = await read(location.hash);
      if (linked !== null) setRequest(linked);
    };
    void follow();
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);

  const faultsOf = async (text: string): Promise<Fault[]> => {
    const answer = await engine.check({ text, set: request.set });
    return "wrong" in answer ? answer.wrong.errors : [];
  };

  /** Runs a scenario and keeps it as A or B; says whether it could be run. */
  const run = async (asked: Request, as: "a" | "b"): Promise<boolean> => {
    setFaults([]);
    setProgress(0);
    try {
      const answer = await engine.run(asked, setProgress);
      if ("wrong" in answer) setFaults(answer.wrong.errors.map(({ message }) => message));
      if (!("results" in answer)) return false;
      setRuns((before) => ({ ...before, [as]: runOf(asked, answer.results) }));
      setSeen(as);
      return true;
    } catch (error) {
      setFaults([`the simulator ended: ${(error as Error).message}`]);
      return false;
    } finally {
      setProgress(null);
    }
  };

  const teach = async (chosen: Lesson): Promise<void> => {
    const asked: Request = { text: chosen.text, set: [] };
    setLesson(chosen);
    setRequest(asked);
    setRuns({});
    if (await run(asked, "a")) await run({ ...asked, set: chosen.change }, "b");
  };

  const link = async (): Promise<void> => {
    location.hash = await write(request);
    await navigator.clipboard?.writeText(location.href).catch(() => {});
  };

  const page = runs[seen]?.page;
  const isBusy = progress !== null;
  return (
    <>
      <div class="title">
        <h1>Tidemark playground</h1>
        <p class="note">The simulation runs in this page. Nothing is sent anywhere.</p>
      </div>
      <section aria-label="Lessons">
        <h2>Six lessons</h2>
        <ol class="lessons">
          {LESSONS.map((one) => (
            <li key={one.title}>
              <button type="button" disabled={isBusy} aria-pressed={one === lesson} onClick={() => void teach(one)}>
                {one.title}
              </button>{" "}
              {one.question}
            </li>
          ))}
        </ol>
      </section>
      <section aria-label="Scenario to run">
        <h2>Scenario</h2>
        <Editor text={request.text} change={(text) => setRequest({ ...request, text })} faults={faultsOf} />
        <Knobs set={request.set} change={(set) => setRequest({ ...request, set })} />
        <pre class="command" tabIndex={0}>{command(request.set)}</pre>
        <div class="act">
          <button type="button" disabled={isBusy} onClick={() => void run(request, "a")}>
            Run as A
          </button>
          <button type="button" disabled={isBusy || runs.a === undefined} onClick={() => void run(request, "b")}>
            Run as B, beside A
          </button>
          <button type="button" disabled={!isBusy} onClick={() => engine.stop()}>
            Stop
          </button>
          <button type="button" onClick={() => void link()}>
            Copy a link
          </button>
          <progress aria-label="share of the run that is done" value={progress ?? 0} max={1} />
        </div>
        {faults.map((fault) => (
          <p key={fault} class="failure" role="alert">
            {fault}
          </p>
        ))}
      </section>
      {runs.a !== undefined && runs.b !== undefined && (
        <section aria-label="Comparison">
          <h2>A beside B</h2>
          <p class="note">
            A: {command(runs.a.request.set)}
            <br />
            B: {command(runs.b.request.set)}
          </p>
          <Comparison first={runs.a} second={runs.b} />
          {lesson !== null && (
            <>
              <Expected lesson={lesson} first={runs.a} second={runs.b} />
              <p class="answer">{lesson.answer}</p>
            </>
          )}
        </section>
      )}
      {page !== undefined && (
        <section aria-label="Report">
          <h2>Report</h2>
          {runs.b !== undefined && (
            <Choices
              label="run"
              options={[
                ["a", "A"],
                ["b", "B"],
              ]}
              chosen={seen}
              change={setSeen}
            />
          )}
          <iframe class="report" title={`report of ${seen.toUpperCase()}`} sandbox="allow-scripts allow-downloads" srcdoc={page} />
        </section>
      )}
    </>
  );
}
