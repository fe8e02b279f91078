/** The gateway at a glance: what is connected, what happens now, what it costs. */
import type { ServerRow } from "../../api/schema.ts";
import { clock, count, duration, ms, plural, visible } from "../format.ts";
import { useLive } from "../live.ts";
import { Chart } from "../parts/chart.tsx";
import { Copy, Empty, Figure, Loading, Outcome, Section, State } from "../parts/small.tsx";
import { href } from "../router.ts";

/** The seconds that the charts show at least. They grow with what is known, up to two minutes. */
const MIN_SLOTS = 30;

export function Overview() {
  const { state, seconds, servers, calls, ownTools } = useLive();
  if (!state || !servers) return <Loading what="the gateway" />;
  const waiting = servers.filter(({ state: now }) => now === "needs-login");
  const own = ownTools?.length ?? 0;
  const replicas = state.cluster?.replicas ?? [];
  const silent = replicas.filter(({ answers }) => !answers);
  const slots = Math.max(MIN_SLOTS, seconds.length);
  const recent = (calls ?? []).slice(-8).reverse();
  return (
    <div class="panel">
      <h1>Overview</h1>
      <div class="endpoint">
        <span class="muted">Your clients connect to</span> <code>{state.endpoint}</code> <Copy text={state.endpoint} />
      </div>
      {state.configProblem && (
        <p class="problem" role="alert">
          The config file's newest text is not in use: {visible(state.configProblem.summary)}
        </p>
      )}
      {waiting.length > 0 && (
        <p class="notice">
          {plural(waiting.length, "server waits", "servers wait")} for a login:{" "}
          {waiting.map(({ id }) => (
            <a key={id} href={href(["servers", id])}>
              {id}{" "}
            </a>
          ))}
        </p>
      )}
      <div class="figures">
        <Figure label="Servers ready" value={`${state.counts.ready} / ${state.counts.servers}`} />
        <Figure
          label="Tools"
          value={count(state.counts.tools + own)}
          note={`${count(state.counts.tools)} of servers, ${count(state.tokens.all)} tokens; ${count(own)} of the gateway, ${count(state.tokens.own)}`}
        />
        <Figure label="A client reads" value={count(state.tokens.listed)} note={`tokens, expose ${state.exposure}`} />
        <Figure
          label="Calls"
          value={count(state.calls.total)}
          note={[
            `${count(state.calls.errors)} failed`,
            state.calls.inFlight > 0 ? `${state.calls.inFlight} in flight` : "",
          ]
            .filter(Boolean)
            .join(", ")}
        />
        <Figure
          label="Clients"
          value={count(state.counts.sessions)}
          note={plural(state.counts.subscriptions, "subscription")}
        />
        <Figure
          label="Up for"
          value={duration(state.uptimeMs)}
          note={`version ${state.version}${replicas.length > 1 ? `, ${plural(replicas.length, "replica")}` : ""}`}
        />
      </div>
      {silent.map(({ id, address, lastSeen }) => (
        <p key={id} class="problem" role="alert">
          Replica {visible(id)} at {visible(address)} does not answer: what it has is not shown. Last seen{" "}
          {duration(Math.max(0, Date.now() - lastSeen))} ago.
        </p>
      ))}
      <div class="charts">
        <Chart
          title="Calls per second"
          slots={slots}
          format={count}
          series={[
            { label: "calls", tone: "main", values: seconds.map(({ callsPerSecond }) => callsPerSecond) },
            { label: "failed", tone: "bad", values: seconds.map(({ errorsPerSecond }) => errorsPerSecond) },
          ]}
        />
        <Chart
          title="Latency"
          slots={slots}
          format={ms}
          series={[
            { label: "p99", tone: "second", values: seconds.map(({ p99Ms }) => p99Ms) },
            { label: "median", tone: "main", values: seconds.map(({ p50Ms }) => p50Ms) },
          ]}
        />
        <Chart
          title="Tokens a client reads"
          slots={slots}
          format={count}
          series={[{ label: "listed", tone: "main", values: seconds.map(({ tokens }) => tokens.listed) }]}
        />
      </div>
      <Section title="Servers" extra={<a href={href(["servers"])}>All servers</a>}>
        {servers.length === 0 ? (
          <Empty title="No servers yet">Add one to the config file under “mcpServers”.</Empty>
        ) : (
          <ServerMap servers={servers} />
        )}
      </Section>
      <Section title="Latest calls" extra={<a href={href(["calls"])}>All calls</a>}>
        {recent.length === 0 ? (
          <Empty title="No calls yet">Calls of your clients show up here at once.</Empty>
        ) : (
          <ul class="rows">
            {recent.map((call) => (
              <li key={call.requestId}>
                <a href={href(["calls", call.requestId])}>
                  <span class="cell-time">{clock(call.time)}</span>
                  <span class="cell-main">{visible(call.name ?? call.method)}</span>
                  <span class="cell-side">{ms(call.ms)}</span>
                  <Outcome outcome={call.outcome} />
                </a>
              </li>
            ))}
          </ul>
        )}
      </Section>
    </div>
  );
}

/** Every server as a tile; its width follows its share of the tools. */
function ServerMap({ servers }: { servers: readonly ServerRow[] }) {
  return (
    <ul class="map">
      {servers.map((server) => (
        <li
          key={server.id}
          class={`tile tile-${server.state}`}
          style={{ flexGrow: 1 + Math.sqrt(server.counts.tools) }}
        >
          <a href={href(["servers", server.id])}>
            <strong>{server.id}</strong>
            <State state={server.state} />
            <small>
              {server.reason !== null && server.state !== "ready"
                ? visible(server.reason.slice(0, 80))
                : `${plural(server.counts.tools, "tool")}, ${plural(server.calls, "call")}, ${ms(server.latency.p50Ms)}`}
            </small>
          </a>
        </li>
      ))}
    </ul>
  );
}
