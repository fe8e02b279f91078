/** The logins at servers: whose, at which issuer, with which scopes, until when; in and out. */
import { useState } from "preact/hooks";
import type { LoginRow, LogoutResult } from "../../api/logins/schema.ts";
import { post } from "../api.ts";
import { visible } from "../format.ts";
import { useLive } from "../live.ts";
import { Confirm } from "../parts/confirm.tsx";
import { logIn } from "../parts/log-in.ts";
import { Empty, Loading, Problem, State } from "../parts/small.tsx";
import { useRead } from "../parts/use-read.ts";
import { href } from "../router.ts";

const WORDS = {
  "logged-in": "logged in",
  expired: "expired",
  "more-scopes": "wants more scopes",
  "no-login": "no login",
} as const;

export function Logins() {
  const { servers } = useLive();
  // A login or its end changes the state of its server.
  const states = servers?.map(({ id, state, since }) => `${id} ${state} ${since}`).join();
  const { value, problem, again } = useRead<{ items: LoginRow[] }>("/api/logins", [states]);
  const [note, setNote] = useState("");
  const [failure, setFailure] = useState("");
  if (!value) return problem ? <Problem>{visible(problem)}</Problem> : <Loading what="logins" />;
  const act = async (action: () => Promise<string>): Promise<void> => {
    setFailure("");
    setNote("");
    await action().then(setNote, (error: Error) => setFailure(error.message));
    again();
  };
  return (
    <div class="panel">
      <h1>Logins</h1>
      <p class="muted">
        Tokens are kept encrypted where the gateway runs, and never shown. A login opens in a new tab.
      </p>
      <p role="status">{visible(note)}</p>
      {(failure || problem) && <Problem>{visible(failure || problem)}</Problem>}
      {value.items.length === 0 ? (
        <Empty title="No server has a login">Servers behind a URL that ask for OAuth show up here.</Empty>
      ) : (
        <ul class="logins">
          {value.items.map((row) => (
            <li key={`${row.serverId} ${row.owner}`} class="card login">
              <Row row={row} act={act} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Row({ row, act }: { row: LoginRow; act: (action: () => Promise<string>) => Promise<void> }) {
  const { serverId, owner, state, unattended, personal } = row;
  const logOut = async (): Promise<string> => {
    const path = `/api/servers/${encodeURIComponent(serverId)}/logout`;
    const { problems } = await post<LogoutResult>(path, { owner });
    return [`Logged out of ${serverId}.`, ...problems].join(" ");
  };
  const whose = row.who ?? (personal ? "each caller has its own" : "all clients");
  return (
    <>
      <header class="login-head">
        <h2>
          <a href={href(["servers", serverId])}>{visible(serverId)}</a>
        </h2>
        <span class={`login-state login-${state}`}>{WORDS[state]}</span>
        <State state={row.serverState} />
        <span class="actions login-actions">
          {!unattended && (state !== "logged-in" || row.serverState === "needs-login") && (
            <button type="button" class="primary" onClick={() => void act(async () => logIn(serverId))}>
              Log in
            </button>
          )}
          {state !== "no-login" && (
            <Confirm
              label="Log out"
              question={`Log ${visible(whose)} out of ${visible(serverId)}?`}
              onYes={() => void act(logOut)}
            />
          )}
        </span>
      </header>
      <dl class="login-facts">
        <div>
          <dt>Whose</dt>
          <dd>{visible(whose)}</dd>
        </div>
        <div>
          <dt>Issuer</dt>
          <dd>{row.issuer === null ? "–" : visible(row.issuer)}</dd>
        </div>
        <div>
          <dt>Until</dt>
          <dd>{untilText(row)}</dd>
        </div>
        <div>
          <dt>Scopes</dt>
          <dd class="tags">
            {row.scopes.length === 0 && row.wanted.length === 0 && "–"}
            {row.scopes.map((scope) => (
              <span class="tag" key={scope}>
                {visible(scope)}
              </span>
            ))}
            {row.wanted
              .filter((scope) => !row.scopes.includes(scope))
              .map((scope) => (
                <span class="tag tag-bad" key={scope}>
                  {visible(scope)}, wanted
                </span>
              ))}
          </dd>
        </div>
      </dl>
    </>
  );
}

function untilText({ state, renewed, unattended, expiresAt }: LoginRow): string {
  if (state === "no-login") return unattended ? "the gateway logs in by itself, when it is needed" : "–";
  const end = expiresAt === null ? "" : new Date(expiresAt).toLocaleString();
  if (renewed || unattended) return end === "" ? "renewed by itself" : `renewed by itself, next before ${end}`;
  return end === "" ? "the server says no" : end;
}
