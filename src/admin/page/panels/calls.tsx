/** The calls of clients: a live list, and one call in full, with a waterfall of its time. */
import { useEffect, useState } from "preact/hooks";
import { isFailure } from "../../../mcp/protocol/outcomes.ts";
import type { CallDetails, CallText } from "../../api/live/schema.ts";
import type { CallRow } from "../../api/schema.ts";
import { ApiProblem, needsToken, request } from "../api.ts";
import { bytes, clock, ms, plural, visible } from "../format.ts";
import { useLive } from "../live.ts";
import { Result } from "../parts/content.tsx";
import { JsonView } from "../parts/json-view.tsx";
import { type Request, RunView, useRun } from "../parts/runner.tsx";
import { Copy, Empty, Figure, Loading, Outcome, Problem, SearchBox, Section, ServerFilter } from "../parts/small.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { href, setQuery, usePlace } from "../router.ts";
import { LogLines } from "./logs.tsx";

export function Calls() {
  const { calls, state } = useLive();
  const { query } = usePlace();
  if (!calls) return <Loading what="calls" />;
  const words = (query.get("q") ?? "").toLowerCase();
  const server = query.get("server") ?? "";
  const failed = query.get("failed") === "1";
  const shown = calls
    .filter(
      (call) =>
        (server === "" || call.serverId === server) &&
        (!failed || isFailure(call.outcome)) &&
        (words === "" || `${call.name ?? ""} ${call.method} ${call.client ?? ""}`.toLowerCase().includes(words)),
    )
    .reverse();
  return (
    <div class="panel panel-tall">
      <h1>
        Calls <small class="muted">{state ? `${state.calls.inFlight} in flight` : ""}</small>
      </h1>
      <div class="filters">
        <SearchBox label="Search calls" />
        <ServerFilter />
        <label>
          <input
            type="checkbox"
            checked={failed}
            onChange={(event) => setQuery("failed", event.currentTarget.checked ? "1" : "")}
          />{" "}
          failed only
        </label>
      </div>
      {shown.length === 0 ? (
        <Empty title={calls.length === 0 ? "No calls yet" : "No call matches"}>
          {calls.length === 0 && "Calls of your clients show up here at once."}
        </Empty>
      ) : (
        <VirtualList
          label="Calls"
          items={shown}
          rowHeight={36}
          keyOf={(call) => `${call.requestId} ${call.time}`}
          row={(call) => <Row call={call} />}
        />
      )}
    </div>
  );
}

function Row({ call }: { call: CallRow }) {
  return (
    <a class="call" href={href(["calls", call.requestId])}>
      <span class="cell-time">{clock(call.time)}</span>
      <span class="cell-main">{visible(call.name ?? call.method)}</span>
      <span class="cell-minor">{call.serverId ?? "goblin"}</span>
      <span class="cell-minor">{visible(call.client ?? "")}</span>
      <span class="cell-side">{ms(call.ms)}</span>
      <Outcome outcome={call.outcome} />
    </a>
  );
}

export function CallView({ id }: { id: string }) {
  const [call, setCall] = useState<CallDetails>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let stale = false;
    setCall(undefined);
    setProblem("");
    request<CallDetails>(`/api/calls/${encodeURIComponent(id)}`).then(
      (found) => {
        if (!stale) setCall(found);
      },
      (error: unknown) => {
        if (!stale) setProblem(error instanceof ApiProblem ? error.message : String(error));
      },
    );
    return () => {
      stale = true;
    };
  }, [id]);
  return (
    <div class="panel">
      <p class="crumbs">
        <a href={href(["calls"])}>Calls</a> /
      </p>
      {problem ? (
        <Empty title="This call is not kept any more">{visible(problem)}</Empty>
      ) : call ? (
        <Details call={call} />
      ) : (
        <Loading what="the call" />
      )}
    </div>
  );
}

function Details({ call }: { call: CallDetails }) {
  const { tools, state } = useLive();
  const { run, start, stop, isRunning } = useRun();
  const [isAsked, setAsked] = useState(false);
  const again = requestOf(call);
  const tool = tools?.find(({ name }) => name === call.name);
  const isHarmless = call.method !== "tools/call" || tool?.annotations?.["readOnlyHint"] === true;
  const repeat = (): void => {
    setAsked(false);
    if (again) start(again);
  };
  return (
    <>
      <h1 class="name">
        {visible(call.name ?? call.method)} <Outcome outcome={call.outcome} />
      </h1>
      <p class="muted">
        {call.method}{" "}
        {call.serverId !== null && (
          <>
            at <a href={href(["servers", call.serverId])}>{call.serverId}</a>{" "}
          </>
        )}
        by {visible(call.client ?? "an unnamed client")}
        {call.who !== null && ` of ${visible(call.who)}`}
        {call.profile !== null && ` in profile ${visible(call.profile)}`}
        {call.replica !== undefined && ` through replica ${visible(call.replica)}`}, ended at {clock(call.time)}
        {call.code !== null && (
          <>
            {" "}
            with <code>{String(call.code)}</code>
          </>
        )}
        {call.masked > 0 && `; masked on the way: ${plural(call.masked, "key or token", "keys or tokens")}`}
      </p>
      <Waterfall call={call} />
      {call.paramsMasked && (
        <p class="notice">Secrets in its arguments are masked here, so it cannot be called again as it was.</p>
      )}
      <div class="actions">
        {again && (
          <button type="button" disabled={isRunning} onClick={() => (isHarmless ? repeat() : setAsked(true))}>
            Call again
          </button>
        )}
        {again && <Copy label="Copy as curl" text={curlOf(again)} />}
        {again?.method === "tools/call" && (
          <Copy label="Copy as goblin call" text={commandOf(again, state?.endpoint)} />
        )}
      </div>
      {isAsked && (
        <div class="question" role="alertdialog" aria-label="Confirm the call">
          <p class="question-text">This tool is not marked as read-only. Call it again, with the same arguments?</p>
          <div class="form-buttons">
            <button type="button" class="danger" onClick={repeat}>
              Call it
            </button>
            <button type="button" onClick={() => setAsked(false)}>
              Do not
            </button>
          </div>
        </div>
      )}
      <RunView run={run} stop={stop} />
      <Section title="Asked" extra={<span class="muted">{bytes(call.paramsBytes)}</span>}>
        <div class="json">
          {call.params === null ? <p class="muted">Too large to keep</p> : <JsonView value={call.params} />}
        </div>
      </Section>
      <Section title="Answered" extra={<span class="muted">{bytes(call.answerBytes)}</span>}>
        {call.error !== undefined ? (
          <>
            <Problem>{visible(String((call.error as { message?: unknown } | null)?.message ?? "An error"))}</Problem>
            <div class="json">
              <JsonView value={call.error} />
            </div>
          </>
        ) : call.result === null ? (
          <p class="muted">Too large to keep</p>
        ) : (
          <Result value={call.result} />
        )}
      </Section>
      <Bytes id={call.requestId} />
      {call.notifications.length > 0 && (
        <Section title="Meanwhile">
          <div class="json">
            <JsonView value={call.notifications} />
          </div>
        </Section>
      )}
      {call.logs.length > 0 && (
        <Section title="The server's log meanwhile">
          <LogLines lines={call.logs} />
        </Section>
      )}
    </>
  );
}

/** The messages as they were on the wire, on request. */
function Bytes({ id }: { id: string }) {
  const [text, setText] = useState<CallText>();
  const [problem, setProblem] = useState("");
  const load = (): void => {
    request<CallText>(`/api/calls/${encodeURIComponent(id)}/text`).then(setText, (error: unknown) =>
      setProblem(error instanceof ApiProblem ? error.message : String(error)),
    );
  };
  return (
    <Section title="As bytes">
      {problem && <Problem>{visible(problem)}</Problem>}
      {!text && (
        <button type="button" onClick={load}>
          Show the messages
        </button>
      )}
      {text &&
        [text.request, text.answer].map((message, index) => (
          <pre key={index === 0 ? "request" : "answer"} class="lines">
            {message === null ? "Too large to keep" : visible(message.slice(0, MAX_SHOWN))}
            {message !== null && message.length > MAX_SHOWN && "…"}
          </pre>
        ))}
      {text?.request && <Copy label="Copy the request" text={text.request} />}
      {text?.answer && <Copy label="Copy the answer" text={text.answer} />}
    </Section>
  );
}

/** Where the time went: in the gateway before, at the server, in the gateway after. */
function Waterfall({ call }: { call: CallDetails }) {
  const { beforeMs, serverMs, afterMs } = call.timing;
  const parts = [
    { label: "gateway, before", value: beforeMs, tone: "own" },
    { label: "server", value: serverMs, tone: "server" },
    { label: "gateway, after", value: afterMs, tone: "own" },
  ];
  const whole = Math.max(1e-6, call.ms);
  let from = 0;
  return (
    <>
      <div class="figures">
        <Figure label="Took" value={ms(call.ms)} />
        <Figure label="At the server" value={ms(serverMs)} />
        <Figure label="In the gateway" value={ms((beforeMs ?? 0) + (afterMs ?? 0))} />
      </div>
      <ol class="waterfall" aria-label="Where the time went">
        {parts.map(({ label, value, tone }) => {
          const left = from;
          from += value ?? 0;
          return (
            <li key={label}>
              <span class="waterfall-label">{label}</span>
              <span class="waterfall-lane">
                {value !== null && (
                  <span
                    class={`waterfall-bar waterfall-${tone}`}
                    style={{
                      marginLeft: `${(left / whole) * 100}%`,
                      width: `${Math.max(0.5, (value / whole) * 100)}%`,
                    }}
                  />
                )}
              </span>
              <span class="cell-side">{ms(value)}</span>
            </li>
          );
        })}
      </ol>
    </>
  );
}

/** More than that is copied, not drawn. */
const MAX_SHOWN = 100_000;
const AGAIN = new Set(["tools/call", "prompts/get", "resources/read", "completion/complete"]);

function requestOf({ method, params, paramsMasked }: CallDetails): Request | undefined {
  if (!AGAIN.has(method) || paramsMasked || typeof params !== "object" || params === null) return undefined;
  const { _meta, ...rest } = params as Record<string, unknown>;
  return { method, params: rest } as Request;
}

/** Through the API, which needs no handshake. */
function curlOf({ method, params }: Request): string {
  return [
    `curl -sSN ${quoted(`${location.origin}/api/calls`)}`,
    "-H 'content-type: application/json'",
    ...(needsToken() ? ['-H "authorization: Bearer $GOBLIN_TOKEN"'] : []),
    `-d ${quoted(JSON.stringify({ method, params }))}`,
  ].join(" \\\n  ");
}

/** The command takes a token from the environment. */
function commandOf({ params }: Request, endpoint: string | undefined): string {
  return [
    `goblin call ${quoted(String(params["name"]))}`,
    ...(endpoint ? [`--url ${quoted(endpoint)}`] : []),
    `--args ${quoted(JSON.stringify(params["arguments"] ?? {}))}`,
  ].join(" ");
}

/** Quotes for a POSIX shell: what a server or a client sent must stay one word. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
