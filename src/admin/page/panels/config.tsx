/** The config in use, without its secrets; whether the file is valid, and what a reload changes. */
import { useEffect, useState } from "preact/hooks";
import { post, request } from "../api.ts";
import { visible } from "../format.ts";
import { useLive } from "../live.ts";
import { JsonView } from "../parts/json-view.tsx";
import { Copy, Loading, Problem, Section } from "../parts/small.tsx";

interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly settings?: readonly string[];
  readonly restartNeeded?: readonly string[];
}

export function Config() {
  const { state, reloads } = useLive();
  const [config, setConfig] = useState<unknown>();
  const [changes, setChanges] = useState<Changes>();
  const [done, setDone] = useState("");
  const [problem, setProblem] = useState("");
  const read = (): void => {
    request("/api/config").then(setConfig, (error: unknown) => setProblem((error as Error).message));
  };
  useEffect(read, [reloads]);
  if (!state) return <Loading what="the config" />;
  const act = (action: () => Promise<unknown>): void => {
    setProblem("");
    setDone("");
    action().catch((error: unknown) => setProblem((error as Error).message));
  };
  return (
    <div class="panel">
      <h1>Config</h1>
      <p class="muted">
        {state.configPath === null ? (
          "The embedded demo is running; there is no config file."
        ) : (
          <>
            From <code>{visible(state.configPath)}</code> <Copy text={state.configPath} />. Edit the file in your
            editor: this page writes nothing.
          </>
        )}
      </p>
      {state.configProblem?.problems.map((one) => (
        <Problem key={`${one.line} ${one.key} ${one.message}`}>
          {one.line !== null && `Line ${one.line}: `}
          {one.key !== null && `${visible(one.key)}: `}
          {visible(one.message)}
          {one.hint !== null && ` (${visible(one.hint)})`}
        </Problem>
      ))}
      {state.configPath !== null && (
        <div class="actions">
          <button
            type="button"
            onClick={() => act(async () => setChanges(await request<Changes>("/api/config/changes")))}
          >
            What would a reload change?
          </button>
          <button
            type="button"
            class="primary"
            onClick={() =>
              act(async () => {
                setDone(describeChanges(await post<Changes>("/api/reload")));
                setChanges(undefined);
                read();
              })
            }
          >
            Reload
          </button>
        </div>
      )}
      <p role="status">{done && `Reloaded: ${done}`}</p>
      {problem && <Problem>{visible(problem)}</Problem>}
      {changes && <p class="notice">A reload would do this: {describeChanges(changes)}</p>}
      <Section
        title="In use"
        extra={config === undefined ? undefined : <Copy label="Copy as JSON" text={JSON.stringify(config, null, 2)} />}
      >
        <div class="json">{config === undefined ? <p class="shimmer">Loading…</p> : <JsonView value={config} />}</div>
      </Section>
    </div>
  );
}

function describeChanges({ added, removed, changed, settings = [], restartNeeded = [] }: Changes): string {
  const parts = [
    added.length > 0 ? `add ${added.join(", ")}` : "",
    removed.length > 0 ? `remove ${removed.join(", ")}` : "",
    changed.length > 0 ? `replace ${changed.join(", ")}` : "",
    settings.length > 0 ? `apply ${settings.join(", ")}` : "",
    restartNeeded.length > 0 ? `wait for a restart with ${restartNeeded.join(", ")}` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "nothing; the file says what is in use" : parts.join("; ");
}
