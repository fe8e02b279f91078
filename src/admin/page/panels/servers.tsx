/** All servers, and one in detail: state, why, restart, logs, tools and what they cost. */
import { useEffect, useState } from "preact/hooks";
import type { ServerDetails } from "../../api/live/schema.ts";
import type { ServerRow } from "../../api/schema.ts";
import { post, request } from "../api.ts";
import { clock, count, duration, ms, plural, visible } from "../format.ts";
import { useLive } from "../live.ts";
import { Facts } from "../parts/facts.tsx";
import { logIn } from "../parts/log-in.ts";
import { Markdown } from "../parts/markdown.tsx";
import { Empty, Figure, Loading, Problem, rowLink, Section, State } from "../parts/small.tsx";
import { href } from "../router.ts";
import { LogLines } from "./logs.tsx";

export function Servers() {
  const { servers } = useLive();
  if (!servers) return <Loading what="servers" />;
  return (
    <div class="panel">
      <h1>Servers</h1>
      {servers.length === 0 ? (
        <Empty title="No servers yet">Add one to the config file under “mcpServers”.</Empty>
      ) : (
        <div class="scroll-x">
          <table>
            <thead>
              <tr>
                <th>Server</th>
                <th>State</th>
                <th class="number">Tools</th>
                <th class="number">Tokens</th>
                <th class="number">Calls</th>
                <th class="number">Failed</th>
                <th class="number">Median</th>
                <th class="number">p99</th>
              </tr>
            </thead>
            <tbody>
              {servers.map((server) => (
                <tr key={server.id} {...rowLink(href(["servers", server.id]))}>
                  <th scope="row">
                    <a href={href(["servers", server.id])}>{server.id}</a>
                    <small class="muted"> {server.transport}</small>
                  </th>
                  <td>
                    <State state={server.state} />
                    {server.reason !== null && <small class="why">{visible(server.reason)}</small>}
                  </td>
                  <td class="number">{count(server.counts.tools)}</td>
                  <td class="number">{count(server.tokens)}</td>
                  <td class="number">{count(server.calls)}</td>
                  <td class="number">{count(server.errors)}</td>
                  <td class="number">{ms(server.latency.p50Ms)}</td>
                  <td class="number">{ms(server.latency.p99Ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

export function Server({ id }: { id: string }) {
  const { servers, tools, logs } = useLive();
  const row = servers?.find((server) => server.id === id);
  const [details, setDetails] = useState<ServerDetails>();
  useEffect(() => {
    let stale = false;
    request<ServerDetails>(`/api/servers/${encodeURIComponent(id)}`).then(
      (found) => {
        if (!stale) setDetails(found);
      },
      () => {},
    );
    return () => {
      stale = true;
    };
  }, [id, row?.state]);
  if (!servers) return <Loading what="servers" />;
  if (!row)
    return <Empty title={`There is no server “${visible(id)}”`}>It may have been removed from the config.</Empty>;
  const own = (tools ?? []).filter(({ serverId }) => serverId === id).sort((a, b) => b.tokens - a.tokens);
  const lines = (logs ?? []).filter(({ server }) => server === id);
  return (
    <div class="panel">
      <p class="crumbs">
        <a href={href(["servers"])}>Servers</a> /
      </p>
      <h1>
        {id} <State state={row.state} />
      </h1>
      {row.reason !== null && <Problem>{visible(row.reason)}</Problem>}
      {row.upgrade !== null && (
        <Problem>
          A new version has not taken over: {visible(row.upgrade)}. <a href={href(["lock", id])}>Look at it</a>
        </Problem>
      )}
      <Actions row={row} />
      <div class="figures">
        <Figure label="In this state" value={duration(Date.now() - row.since)} note={plural(row.restarts, "restart")} />
        <Figure label="Protocol" value={row.protocolVersion ?? "–"} note={row.transport} />
        <Figure label="Tools" value={count(row.counts.tools)} note={`${count(row.tokens)} tokens`} />
        <Figure label="Calls" value={count(row.calls)} note={`${count(row.errors)} failed`} />
        <Figure label="In flight" value={count(row.inFlight)} note={`${count(row.queue)} waiting`} />
        <Figure label="Latency" value={ms(row.latency.p50Ms)} note={`p99 ${ms(row.latency.p99Ms)}`} />
      </div>
      {details && <About details={details} />}
      <Section title={plural(own.length, "tool")}>
        {own.length === 0 ? (
          <Empty title="It has listed no tools" />
        ) : (
          <ul class="rows">
            {own.map((tool) => (
              <li key={tool.name}>
                <a href={href(["catalog", "tools", tool.name])}>
                  <span class="cell-main">{visible(tool.name)}</span>
                  <Bar share={tool.tokens / Math.max(1, own[0]!.tokens)} />
                  <span class="cell-side">{count(tool.tokens)} tokens</span>
                </a>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title="Log" extra={<a href={href(["logs"], { server: id })}>All lines</a>}>
        {lines.length === 0 ? <Empty title="Nothing logged" /> : <LogLines lines={lines.slice(-50)} />}
      </Section>
    </div>
  );
}

function Bar({ share }: { share: number }) {
  return (
    <span class="bar" aria-hidden="true">
      <span style={{ width: `${Math.round(share * 100)}%` }} />
    </span>
  );
}

function Actions({ row }: { row: ServerRow }) {
  const [busy, setBusy] = useState("");
  const [problem, setProblem] = useState("");
  const act = (action: string) => async (): Promise<void> => {
    setBusy(action);
    setProblem("");
    try {
      await post(`/api/servers/${encodeURIComponent(row.id)}/${action}`);
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy("");
  };
  return (
    <div class="actions">
      {row.state === "needs-login" && (
        <button
          type="button"
          class="primary"
          onClick={() => logIn(row.id).catch((error: Error) => setProblem(error.message))}
        >
          Log in
        </button>
      )}
      {row.state === "disabled" ? (
        <button type="button" class="primary" disabled={busy !== ""} onClick={() => void act("enable")()}>
          Enable
        </button>
      ) : (
        <>
          <button type="button" disabled={busy !== "" || row.state === "invalid"} onClick={() => void act("restart")()}>
            {busy === "restart" ? "Restarting…" : "Restart"}
          </button>
          <button type="button" class="quiet" disabled={busy !== ""} onClick={() => void act("disable")()}>
            Disable
          </button>
        </>
      )}
      {problem && <Problem>{visible(problem)}</Problem>}
    </div>
  );
}

function About({ details }: { details: ServerDetails }) {
  const rows: [string, string][] = [
    ["Program", details.command === null ? "" : [details.command, ...details.args].join(" ")],
    ["Address", details.url ?? ""],
    ["Folder", details.cwd ?? ""],
    ["Variables", details.env.join(", ")],
    ["Headers", details.headers.join(", ")],
    ["Prefix", details.prefix],
    ["Shared", details.share],
    ["Says it is", details.serverInfo ? `${details.serverInfo.name} ${details.serverInfo.version ?? ""}` : ""],
  ];
  return (
    <Section title="About">
      <Facts facts={rows} />
      {details.instructions !== null && (
        <details>
          <summary>What it tells models</summary>
          <Markdown text={details.instructions} />
        </details>
      )}
      {details.stderr.length > 0 && (
        <details>
          <summary>What it wrote to stderr last</summary>
          <pre class="lines">{details.stderr.map(({ time, msg }) => `${clock(time)} ${visible(msg)}`).join("\n")}</pre>
        </details>
      )}
    </Section>
  );
}
