/**
 * Calls that wait for a person, and the answers. What is shown of a call comes from its client:
 * nothing in it is hidden, and an answer carries the digest of the arguments that were shown.
 */
import { useEffect, useState } from "preact/hooks";
import type { ApprovalRow } from "../../api/live/approval-schema.ts";
import { ApiProblem, post, request } from "../api.ts";
import { clock, duration, plural, visible } from "../format.ts";
import { useLive } from "../live.ts";
import { Facts } from "../parts/facts.tsx";
import { Copy, Empty, Loading, Problem, Section } from "../parts/small.tsx";
import { href } from "../router.ts";

const MAX_BRIEF = 200;

type Span = "once" | "hour" | "session" | "always";

interface Allowed {
  readonly rule: string | null;
}

export function Approvals() {
  const { approvals } = useLive();
  if (!approvals) return <Loading what="approvals" />;
  const held = approvals.filter(({ state }) => state === "held");
  const others = approvals.filter(({ state }) => state !== "held").reverse();
  return (
    <div class="panel">
      <h1>Approvals</h1>
      <Section title={`${plural(held.length, "call")} waiting`}>
        {held.length === 0 ? (
          <Empty title="Nothing waits for approval">Rules with the effect ask hold calls until somebody answers.</Empty>
        ) : (
          <Rows rows={held} />
        )}
      </Section>
      {others.length > 0 && (
        <Section title="Answered or ended">
          <Rows rows={others} />
        </Section>
      )}
    </div>
  );
}

function Rows({ rows }: { rows: readonly ApprovalRow[] }) {
  return (
    <ul class="rows">
      {rows.map((row) => (
        <li key={row.id} class="row-plain">
          <span class="cell-time">{clock(row.proposedAt)}</span>
          <span class="cell-main">
            <a href={href(["approvals", row.id])}>{visible(row.shownName)}</a>{" "}
            <code class="muted">{visible(brief(row))}</code>
          </span>
          <span>{visible(row.who ?? row.client ?? "anyone")}</span>
          <span class="cell-side">{stateOf(row)}</span>
        </li>
      ))}
    </ul>
  );
}

export function Approval({ id }: { id: string }) {
  const { approvals } = useLive();
  const [row, setRow] = useState<ApprovalRow>();
  const [problem, setProblem] = useState("");
  const [rule, setRule] = useState<string | null>();
  const now = approvals?.find((one) => one.id === id);
  // The list cuts long arguments; a person who decides sees all of them.
  useEffect(() => {
    request<ApprovalRow>(`/api/approvals/${encodeURIComponent(id)}`).then(setRow, (error: Error) =>
      setProblem(error.message),
    );
  }, [id, now?.state, now?.outcome]);
  if (!row) return problem ? <NotThere problem={problem} /> : <Loading what="the approval" />;
  const answer = async (path: "allow" | "deny", span?: Span): Promise<void> => {
    setProblem("");
    try {
      const body = { expect: row.digest, ...(span && { for: span }) };
      const given = await post<Allowed>(`/api/approvals/${encodeURIComponent(id)}/${path}`, body);
      if (span === "always") setRule(given.rule);
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error.message : String(error));
    }
  };
  const facts: [string, string][] = [
    ["State", stateOf(row)],
    ["Who", row.who ?? "anyone: the gateway needs no token"],
    ["Client", [row.client, row.app].filter(Boolean).join(", ") || "–"],
    [row.kind, `${row.name} of ${row.server}`],
    ["Rule", row.reason === null ? row.rule : `${row.rule}: ${row.reason}`],
    ["Replica", row.replica ?? ""],
    ["Digest", row.digest],
    ["Answered by", row.by === null ? "" : row.for === null ? row.by : `${row.by}, for ${row.for}`],
    ["Outcome", row.outcome ?? ""],
  ];
  return (
    <div class="panel">
      <h1>{visible(row.shownName)}</h1>
      {problem && <Problem>{problem}</Problem>}
      {row.state === "held" && (
        <div class="actions" role="group" aria-label="Answer">
          <button type="button" class="primary" onClick={() => void answer("allow", "once")}>
            Allow once
          </button>
          <button type="button" onClick={() => void answer("allow", "hour")}>
            For an hour
          </button>
          {row.hasSession && (
            <button type="button" onClick={() => void answer("allow", "session")}>
              For its session
            </button>
          )}
          <button type="button" onClick={() => void answer("allow", "always")}>
            Always…
          </button>
          <button type="button" class="danger" onClick={() => void answer("deny")}>
            Deny
          </button>
        </div>
      )}
      {rule !== undefined && (
        <Section title="To allow it always" extra={rule ? <Copy text={rule} /> : undefined}>
          {rule === null ? (
            <p>Its arguments cannot stand in a config: write a rule for it by hand.</p>
          ) : (
            <pre>{visible(rule)}</pre>
          )}
        </Section>
      )}
      <Section title="Arguments">
        <pre class="wrap">{visible(row.arguments)}</pre>
      </Section>
      <Section title="The call">
        <Facts facts={facts} />
      </Section>
    </div>
  );
}

function NotThere({ problem }: { problem: string }) {
  return (
    <div class="panel">
      <Empty title={problem}>
        <a href={href(["approvals"])}>All approvals</a>
      </Empty>
    </div>
  );
}

/** The start of the arguments, and how much more of them there is. */
function brief({ arguments: shown, characters }: ApprovalRow): string {
  if (characters <= MAX_BRIEF) return shown;
  return `${shown.slice(0, MAX_BRIEF)}… (${plural(characters - MAX_BRIEF, "more character")})`;
}

function stateOf({ state, expiresAt, ended }: ApprovalRow): string {
  if (state === "held") return `waits, ${duration(Math.max(0, expiresAt - Date.now()))} left`;
  return state === "ended" ? `not answered: ${ended ?? "ended"}` : state;
}
