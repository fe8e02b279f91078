/**
 * The offers of servers beside their approved versions, and the approval of changes. An approval
 * carries the digest of what was shown, so that nothing else is approved. Texts of servers are
 * shown as text, with what is hidden in them made visible, and never cut.
 */
import { useEffect, useState } from "preact/hooks";
import type { DriftRow, LockedServerRow, LockState, UpgradeRow } from "../../api/lock/schema.ts";
import { nearChanges, sideBySide } from "../../api/lock/side-by-side.ts";
import { sourceText } from "../../api/lock/source-text.ts";
import { post, request } from "../api.ts";
import { plural, visible } from "../format.ts";
import { useLive } from "../live.ts";
import { Facts } from "../parts/facts.tsx";
import { Empty, Loading, Problem, rowLink, Section, State } from "../parts/small.tsx";
import { href } from "../router.ts";

/** Differences beyond these are shown when somebody opens them. */
const OPEN_AT_FIRST = 20;

/** Reads the comparison again whenever it may be another one. */
function useLock(): { readonly lock: LockState | undefined; readonly problem: string } {
  const { lockChanges, connection } = useLive();
  const [lock, setLock] = useState<LockState>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let isStale = false;
    request<LockState>("/api/lock").then(
      (found) => {
        if (!isStale) setLock(found);
      },
      (error: Error) => setProblem(error.message),
    );
    return () => {
      isStale = true;
    };
  }, [lockChanges, connection]);
  return { lock, problem };
}

export function Lock() {
  const { lock, problem } = useLock();
  if (!lock) return problem ? <Problem>{problem}</Problem> : <Loading what="the lock" />;
  return (
    <div class="panel">
      <h1>Lock</h1>
      <p class="muted">
        <code>{visible(lock.file)}</code>, mode {lock.mode}
      </p>
      {lock.problems.map(({ line, message }) => (
        <Problem key={`${line} ${message}`}>{visible(`line ${line}: ${message}`)}</Problem>
      ))}
      {lock.servers.length === 0 ? (
        <Empty title="There are no servers" />
      ) : (
        <div class="scroll-x">
          <table>
            <thead>
              <tr>
                <th>Server</th>
                <th>State</th>
                <th class="number">Differences</th>
                <th>Source</th>
              </tr>
            </thead>
            <tbody>
              {lock.servers.map((server) => (
                <tr key={server.id} {...rowLink(href(["lock", server.id]))}>
                  <th scope="row">
                    <a href={href(["lock", server.id])}>{visible(server.id)}</a>
                  </th>
                  <td>
                    <State state={server.state} />
                    {server.upgrade && <small class="why">new version {server.upgrade.state}</small>}
                  </td>
                  <td class="number">{server.state === "new" ? "all" : server.drifts.length}</td>
                  <td>{visible(sourceText(server.source))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

export function LockedServer({ id }: { id: string }) {
  const { lock, problem } = useLock();
  if (!lock) return problem ? <Problem>{problem}</Problem> : <Loading what="the lock" />;
  const server = lock.servers.find((one) => one.id === id);
  if (!server) return <Empty title={`The lock knows no server “${visible(id)}”`} />;
  return (
    <div class="panel">
      <p class="crumbs">
        <a href={href(["lock"])}>Lock</a> /
      </p>
      <h1>
        {visible(id)} <State state={server.state} />
      </h1>
      {server.upgrade && <Upgrade id={id} upgrade={server.upgrade} />}
      <Approve server={server} />
      <Section title="The server">
        <Facts
          facts={[
            ["Source", sourceText(server.source)],
            ["Offers now", server.current ?? "nothing is known: it has not been listed"],
            ["Approved", server.approved ?? "nothing"],
            ["In the file", server.line === null ? "" : `${lock.file}:${server.line}`],
          ]}
        />
      </Section>
      {server.drifts.map((drift, place) => (
        <Drift key={`${drift.kind} ${drift.name}`} drift={drift} isOpen={place < OPEN_AT_FIRST} />
      ))}
    </div>
  );
}

/** A new version that runs beside the one that clients see. */
function Upgrade({ id, upgrade }: { id: string; upgrade: UpgradeRow }) {
  const { problem, act } = useAction();
  const { digest, drifts } = upgrade;
  const path = `/api/lock/${encodeURIComponent(id)}`;
  return (
    <>
      <Section title="A new version has not taken over">
        <Facts
          facts={[
            ["Why", upgrade.reason],
            ["Source", sourceText(upgrade.source)],
            ["Offers", digest ?? ""],
          ]}
        />
        {digest !== null && (
          <div class="actions" role="group" aria-label="New version">
            <button type="button" class="primary" onClick={act(() => post(path, { expect: digest }))}>
              Approve the new version
            </button>
            <button type="button" onClick={act(() => post(`${path}/switch`, { expect: digest }))}>
              Switch without an approval
            </button>
          </div>
        )}
        {problem && <Problem>{visible(problem)}</Problem>}
      </Section>
      {drifts.map((drift, place) => (
        <Drift key={`${drift.kind} ${drift.name}`} drift={drift} isOpen={place < OPEN_AT_FIRST} of="new version: " />
      ))}
    </>
  );
}

/** Returns a function that runs a button's action, and why the last action failed. */
function useAction() {
  const [problem, setProblem] = useState("");
  const act = (work: () => Promise<unknown>) => (): void => {
    setProblem("");
    work().catch((error: Error) => setProblem(error.message));
  };
  return { problem, act };
}

function Approve({ server: { id, state, current, drifts } }: { server: LockedServerRow }) {
  const { problem, act } = useAction();
  const path = `/api/lock/${encodeURIComponent(id)}`;
  const isAttack = drifts.some((drift) => drift.class === "suspicious");
  return (
    <div class="actions" role="group" aria-label="Approval">
      {current !== null && state !== "approved" && (
        <button
          type="button"
          class={isAttack ? "danger" : "primary"}
          onClick={act(() => post(path, { expect: current }))}
        >
          {isAttack ? "Approve what looks like an attack" : `Approve ${plural(drifts.length, "difference")}`}
        </button>
      )}
      {state === "gone" && (
        <button type="button" onClick={act(() => request(path, { method: "DELETE" }))}>
          Remove it from the lock file
        </button>
      )}
      {problem && <Problem>{visible(problem)}</Problem>}
    </div>
  );
}

function Drift({ drift, isOpen, of = "" }: { drift: DriftRow; isOpen: boolean; of?: string }) {
  const [open, setOpen] = useState(isOpen);
  const title = of + visible(drift.name === "" ? drift.kind : `${drift.kind} ${drift.name}`);
  const isBad = drift.class === "widening" || drift.class === "suspicious";
  return (
    <Section
      title={title}
      extra={
        <span class="tags">
          <span class={isBad ? "tag tag-bad" : "tag"}>{drift.class}</span>
          <span class="tag">{drift.change}</span>
          <span class="tag">{drift.effect}</span>
        </span>
      }
    >
      <ul class="changes">
        {drift.changes.map(({ class: as, path, what }) => (
          <li key={`${path} ${what}`}>
            <b>{as}</b> {visible(path === "" ? what : `${path}: ${what}`)}
          </li>
        ))}
      </ul>
      {open ? (
        <SideBySide drift={drift} />
      ) : (
        <button type="button" class="quiet" onClick={() => setOpen(true)}>
          Show both texts
        </button>
      )}
    </Section>
  );
}

function SideBySide({ drift: { before, after } }: { drift: DriftRow }) {
  if (before === null && after === null) return null;
  const rows = nearChanges(sideBySide(before, after));
  return (
    <div class="scroll-x">
      <table class="diff">
        <thead>
          <tr>
            <th>Approved</th>
            <th>Now</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place} class={row && !row.isSame ? "diff-other" : undefined}>
              <td>{row ? visible(row.left ?? "") : "…"}</td>
              <td>{row ? visible(row.right ?? "") : "…"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
