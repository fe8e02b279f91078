/**
 * Makes a call and shows it while it runs: progress, log lines, the server's questions, the answer.
 * Leaving the view cancels the call.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { follow, type PageEvent, post } from "../api.ts";
import { ms, visible } from "../format.ts";
import { href } from "../router.ts";
import { Result } from "./content.tsx";
import { type Question, QuestionForm } from "./question.tsx";
import { Problem } from "./small.tsx";

interface Run {
  readonly id: string;
  readonly began: number;
  readonly ended: number | undefined;
  readonly progress: { progress: number; total?: number; message?: string } | undefined;
  readonly lines: readonly string[];
  readonly questions: readonly Question[];
  readonly result: unknown;
  readonly error: string | undefined;
}

export interface Request {
  readonly method: "tools/call" | "prompts/get" | "resources/read" | "completion/complete";
  readonly params: Record<string, unknown>;
}

/** A secret of this page: it shows that its calls come from one client. */
const caller = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
  byte.toString(16).padStart(2, "0"),
).join("");
const MAX_LINES = 200;

export function useRun() {
  const [run, setRun] = useState<Run | undefined>();
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const start = (request: Request): void => {
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    const put = (part: (old: Run) => Partial<Run>): void =>
      setRun((old) => (old && abort.current === controller ? { ...old, ...part(old) } : old));
    setRun({
      id: "",
      began: Date.now(),
      ended: undefined,
      progress: undefined,
      lines: [],
      questions: [],
      result: undefined,
      error: undefined,
    });
    follow("/api/calls", {
      method: "POST",
      body: { ...request, caller },
      signal: controller.signal,
      quiet: true,
      onEvent: (event) => put((old) => applied(old, event)),
    })
      .then(() => put((old) => ({ ended: old.ended ?? Date.now() })))
      .catch((error: unknown) => {
        if (!controller.signal.aborted) put(() => ({ error: String((error as Error).message), ended: Date.now() }));
      });
  };
  const stop = (): void => {
    abort.current?.abort();
    setRun((old) => old && { ...old, ended: Date.now(), error: "You cancelled the call", questions: [] });
  };
  return { run, start, stop, isRunning: run !== undefined && run.ended === undefined };
}

/** Makes a call whose answer alone matters. */
function ask(request: Request): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    follow("/api/calls", {
      method: "POST",
      body: { ...request, caller },
      quiet: true,
      onEvent: ({ type, data }) => {
        if (type === "result") resolve((data as { result: Record<string, unknown> }).result);
        if (type === "error") reject(new Error((data as { message: string }).message));
      },
    }).then(() => reject(new Error("No answer came")), reject);
  });
}

/** Asks the server for the values of an argument. */
export async function complete(ref: object, argument: { name: string; value: string }, others: Record<string, string>) {
  const { completion } = await ask({
    method: "completion/complete",
    params: { ref, argument, context: { arguments: others } },
  });
  const { values } = (completion ?? {}) as { values?: unknown };
  return Array.isArray(values) ? values.filter((value): value is string => typeof value === "string") : [];
}

function applied(old: Run, { type, data }: PageEvent): Partial<Run> {
  switch (type) {
    case "started":
      return { id: (data as { id: string }).id };
    case "progress":
      return { progress: data as NonNullable<Run["progress"]> };
    case "log": {
      const { level, data: said } = data as { level: string; data: unknown };
      const line = `${level}: ${typeof said === "string" ? said : JSON.stringify(said)}`;
      return { lines: [...old.lines, line].slice(-MAX_LINES) };
    }
    case "question":
      return { questions: [...old.questions, data as Question] };
    case "withdrawn":
      return { questions: old.questions.filter(({ id }) => id !== (data as { id: string }).id) };
    case "result":
      return { result: (data as { result: unknown }).result, ended: Date.now(), questions: [] };
    case "error": {
      const { code, message } = data as { code: string; message: string };
      return { error: `${message} (${code})`, ended: Date.now(), questions: [] };
    }
    default:
      return {};
  }
}

export function RunView({ run, stop }: { run: Run | undefined; stop: () => void }): ComponentChildren {
  const [answered, setAnswered] = useState<readonly string[]>([]);
  const [refused, setRefused] = useState("");
  if (!run) return null;
  const answer = (question: Question, body: { result?: unknown; refusal?: string }): void => {
    setAnswered((old) => [...old, question.id]);
    post(`/api/calls/${encodeURIComponent(run.id)}/answer`, { question: question.id, ...body }).catch(
      (error: unknown) => setRefused(String((error as Error).message)),
    );
  };
  return (
    <div class="run" aria-live="polite">
      {run.ended === undefined && (
        <div class="run-bar">
          <Progress progress={run.progress} />
          <button type="button" onClick={stop}>
            Cancel
          </button>
        </div>
      )}
      {run.lines.length > 0 && <pre class="lines">{run.lines.map(visible).join("\n")}</pre>}
      {run.questions
        .filter(({ id }) => !answered.includes(id))
        .map((question) => (
          <QuestionForm key={question.id} question={question} onAnswer={(body) => answer(question, body)} />
        ))}
      {refused && <Problem>{refused}</Problem>}
      {run.error !== undefined && <Problem>{visible(run.error)}</Problem>}
      {run.ended !== undefined && (
        <p class="muted">
          {ms(run.ended - run.began)}
          {run.id && (
            <>
              {" · "}
              <a href={href(["calls", run.id])}>this call in full</a>
            </>
          )}
        </p>
      )}
      {run.result !== undefined && <Result value={run.result} />}
    </div>
  );
}

function Progress({ progress }: { progress: Run["progress"] }) {
  if (!progress) return <span class="shimmer">Waiting for the server…</span>;
  const { progress: done, total, message } = progress;
  return (
    <label class="progress">
      <progress {...(total === undefined ? {} : { max: total, value: done })} />{" "}
      {message === undefined ? `${done}${total === undefined ? "" : ` of ${total}`}` : visible(message)}
    </label>
  );
}
