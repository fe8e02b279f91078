/** Who is connected: clients with a session, and what they subscribed to. */
import type { SessionRow } from "../../api/schema.ts";
import { clock, duration, plural, visible } from "../format.ts";
import { useLive } from "../live.ts";
import { Empty, Loading, Section } from "../parts/small.tsx";
import { href } from "../router.ts";

export function Clients() {
  const { sessions, subscriptions } = useLive();
  if (!sessions) return <Loading what="clients" />;
  return (
    <div class="panel">
      <h1>Clients</h1>
      <Section title={plural(sessions.length, "session")}>
        {sessions.length === 0 ? (
          <Empty title="No client has a session">
            Clients of the newest protocol need none; their calls are under Calls.
          </Empty>
        ) : (
          <div class="scroll-x">
            <table class="stacks">
              <thead>
                <tr>
                  <th>Client</th>
                  <th>Protocol</th>
                  <th>Since</th>
                  <th class="number">Idle</th>
                  <th class="number">In flight</th>
                  <th class="number">Subscriptions</th>
                </tr>
              </thead>
              <tbody>
                {sessions.map((session) => (
                  <tr key={session.id}>
                    <th scope="row">
                      {visible(session.client?.name ?? "unnamed")}{" "}
                      <small class="muted">
                        {visible(session.client?.version ?? "")} {session.id}
                        {session.replica !== undefined && ` at replica ${visible(session.replica)}`}
                      </small>
                      <Who row={session} />
                    </th>
                    <td class="cell-side" data-label="Protocol">
                      {session.protocolVersion ?? "–"}
                    </td>
                    <td class="cell-side" data-label="Since">
                      {clock(session.since)}
                    </td>
                    <td class="number" data-label="Idle">
                      {duration(session.idleMs)}
                    </td>
                    <td class="number" data-label="In flight">
                      {session.inFlight}
                    </td>
                    <td class="number" data-label="Subscriptions">
                      {session.subscriptions}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Section>
      <Section title={plural(subscriptions?.length ?? 0, "subscription")}>
        {(subscriptions ?? []).length === 0 ? (
          <Empty title="Nobody has subscribed to a resource" />
        ) : (
          <ul class="rows">
            {(subscriptions ?? []).map(({ client, serverId, uri, since }) => (
              <li key={`${client} ${serverId} ${uri}`} class="row-plain">
                <span class="cell-time">{clock(since)}</span>
                <span class="cell-main">
                  <code>{visible(uri)}</code>
                </span>
                <a class="cell-side" href={href(["servers", serverId])}>
                  {serverId}
                </a>
                <span class="cell-side">{client}</span>
              </li>
            ))}
          </ul>
        )}
      </Section>
    </div>
  );
}

function Who({ row: { who, profile } }: { row: Pick<SessionRow, "who" | "profile"> }) {
  return (
    <small class="tags">
      {who !== null && <span class="tag">{visible(who)}</span>}
      {profile !== null && <span class="tag">{visible(profile)}</span>}
    </small>
  );
}
