/** The gateway's log, live, filtered by level, server and words. */
import { useState } from "preact/hooks";
import { ownLogLevels } from "../../../mcp/protocol/log-levels.ts";
import type { LogEntry } from "../../api/schema.ts";
import { request } from "../api.ts";
import { clock, short, visible } from "../format.ts";
import { useLive } from "../live.ts";
import { Empty, Loading, SearchBox, ServerFilter } from "../parts/small.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { setQuery, usePlace } from "../router.ts";

const SHORT_LINE = 500;
const MAX_LINE_LENGTH = 20_000;

export function Logs() {
  const { logs, state } = useLive();
  const { query } = usePlace();
  const [problem, setProblem] = useState("");
  if (!logs) return <Loading what="the log" />;
  const level = query.get("level") ?? "trace";
  const server = query.get("server") ?? "";
  const words = (query.get("q") ?? "").toLowerCase();
  const shown = logs.filter(
    (line) =>
      ownLogLevels.indexOf(line.level) >= ownLogLevels.indexOf(level as LogEntry["level"]) &&
      (server === "" || line.server === server) &&
      (words === "" || line.msg.toLowerCase().includes(words)),
  );
  const setLevel = (next: string): void => {
    request("/api/log-level", { method: "PUT", body: { level: next } }).then(
      () => setProblem(""),
      (error: unknown) => setProblem((error as Error).message),
    );
  };
  return (
    <div class="panel panel-tall">
      <h1>Log</h1>
      <div class="filters">
        <SearchBox label="Search the log" />
        <label>
          from{" "}
          <select value={level} onChange={(event) => setQuery("level", event.currentTarget.value)}>
            {ownLogLevels.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <ServerFilter />
        <label>
          the gateway logs{" "}
          <select value={state?.logLevel ?? "info"} onChange={(event) => setLevel(event.currentTarget.value)}>
            {ownLogLevels.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        {problem && <span class="error">{problem}</span>}
      </div>
      {shown.length === 0 ? (
        <Empty title="No lines">Nothing in the log matches.</Empty>
      ) : (
        <VirtualList
          label="Log lines"
          items={shown}
          rowHeight={24}
          keyOf={(line) => `${line.time} ${shown.indexOf(line)}`}
          row={(line) => <Line line={line} />}
          follow
        />
      )}
    </div>
  );
}

export function LogLines({ lines }: { lines: readonly LogEntry[] }) {
  return (
    <div class="log-lines">
      {lines.map((line, index) => (
        <Line key={index} line={line} />
      ))}
    </div>
  );
}

/** One line, cut to the width that there is. A press of it shows the whole. */
function Line({ line }: { line: LogEntry }) {
  const [open, setOpen] = useState(false);
  const more = line.replica === undefined ? line.extra : { ...line.extra, replica: line.replica };
  const extra = more ? JSON.stringify(more) : "";
  const most = open ? MAX_LINE_LENGTH : SHORT_LINE;
  return (
    <button
      type="button"
      class={`log log-${line.level}${open ? " log-open" : ""}`}
      aria-expanded={open}
      onClick={() => setOpen(!open)}
    >
      <span class="cell-time">{clock(line.time)}</span>
      <span class="log-level">{line.level}</span>
      <span class="log-server">{line.server ?? "goblin"}</span>
      <span class="log-text">
        {visible(short(line.msg, most))} <span class="muted">{visible(short(extra, most))}</span>
      </span>
    </button>
  );
}
