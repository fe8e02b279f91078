/** Clients that a person let in with a code: their list, their end, and a code for another one. */
import { useState } from "preact/hooks";
import type { GrantRow, PairingCodeRow } from "../../api/live/grant-schema.ts";
import { post, request } from "../api.ts";
import { clock, plural, visible } from "../format.ts";
import { useLive } from "../live.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Copy, Empty, Problem, Section } from "../parts/small.tsx";
import { useRead } from "../parts/use-read.ts";

/** How often the list is read: a client that somebody lets in shows up by itself. */
const READ_MS = 3000;

export function Grants() {
  const { state } = useLive();
  const turn = Math.floor((state?.uptimeMs ?? 0) / READ_MS);
  const { value, problem, again } = useRead<{ items: GrantRow[] }>("/api/grants", [turn]);
  const [code, setCode] = useState<PairingCodeRow>();
  const [failure, setFailure] = useState("");
  const act = async (action: () => Promise<unknown>): Promise<void> => {
    setFailure("");
    await action().catch((error: Error) => setFailure(error.message));
    again();
  };
  const end = (id: string) => act(() => request(`/api/grants/${encodeURIComponent(id)}`, { method: "DELETE" }));
  const make = () => act(async () => setCode(await post<PairingCodeRow>("/api/pairing/codes")));
  const items = value?.items ?? [];
  return (
    <Section
      title={plural(items.length, "paired client")}
      extra={
        <button type="button" onClick={() => void make()}>
          New pairing code
        </button>
      }
    >
      {(failure || problem) && <Problem>{visible(failure || problem)}</Problem>}
      {code && (
        <p class="notice" role="status">
          Code <strong class="code">{code.code}</strong> <Copy text={code.code} /> lets one client in, until{" "}
          {clock(code.expiresAt)}. Add <code>{code.url}</code> <Copy text={code.url} /> to the client.
        </p>
      )}
      {value && items.length === 0 ? (
        <Empty title="No client was let in yet">Make a code, and enter it on the page that the client opens.</Empty>
      ) : (
        <ul class="rows">
          {items.map(({ id, name, host, profile, usedAt }) => (
            <li key={id} class="row-plain">
              <span class="cell-main">
                {visible(name)} <small class="muted">{visible(host)}</small>
              </span>
              {profile !== null && <span class="tag">{visible(profile)}</span>}
              <span class="cell-side">last used {new Date(usedAt).toLocaleString()}</span>
              <Confirm label="End" question={`End the access of ${visible(name)}?`} onYes={() => void end(id)} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
