/** Reads something of the API, and again when asked or when one of `when` changes. */
import { useEffect, useState } from "preact/hooks";
import { request } from "../api.ts";

export interface Read<Answer> {
  /** Undefined until the first answer. A later failure keeps the last one. */
  readonly value: Answer | undefined;
  readonly problem: string;
  again(): void;
}

export function useRead<Answer>(path: string, when: readonly unknown[] = []): Read<Answer> {
  const [value, setValue] = useState<Answer>();
  const [problem, setProblem] = useState("");
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    request<Answer>(path, { signal: stop.signal }).then(
      (answer) => {
        setValue(answer);
        setProblem("");
      },
      (error: Error) => {
        if (!stop.signal.aborted) setProblem(error.message);
      },
    );
    return () => stop.abort();
  }, [path, turn, ...when]);
  return { value, problem, again: () => setTurn((old) => old + 1) };
}
