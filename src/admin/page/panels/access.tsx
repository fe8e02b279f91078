/**
 * Who may use what: try a principal and see what it sees and why, the profiles, the rules with
 * their places, and the clients that a person let in.
 *
 * The principal that is tried is part of the address, so an answer can be sent to somebody.
 */
import { useEffect, useState } from "preact/hooks";
import type { AccessState, PrincipalView } from "../../api/access/schema.ts";
import { post } from "../api.ts";
import { plural, visible } from "../format.ts";
import { useLive } from "../live.ts";
import { Empty, Loading, Problem, Section } from "../parts/small.tsx";
import { useRead } from "../parts/use-read.ts";
import { go, href, usePlace } from "../router.ts";
import { Grants } from "./grants.tsx";
import { Profiles, Rules } from "./rules.tsx";
import { Seen } from "./seen.tsx";

const FIELDS = ["as", "groups", "scopes", "client", "profile"] as const;
type Asked = Record<(typeof FIELDS)[number], string>;

export function Access() {
  const { reloads } = useLive();
  const { value: access, problem } = useRead<AccessState>("/api/access", [reloads]);
  const { query } = usePlace();
  if (!access) return problem ? <Problem>{visible(problem)}</Problem> : <Loading what="profiles and rules" />;
  const asked = Object.fromEntries(FIELDS.map((name) => [name, query.get(name) ?? ""])) as Asked;
  const isAsked = query.has("try");
  return (
    <div class="panel">
      <h1>Access</h1>
      <p class="muted">{summaryOf(access)}</p>
      <Section title="Try a principal">
        <Ask key={JSON.stringify(asked)} asked={asked} access={access} />
        {isAsked ? (
          <Answer asked={asked} />
        ) : (
          <p class="muted hint">
            Nothing is called and nobody becomes this principal: the gateway only says what it would see.
          </p>
        )}
      </Section>
      <Profiles access={access} />
      <Rules access={access} />
      {access.pairing && <Grants />}
    </div>
  );
}

function Ask({ asked, access }: { asked: Asked; access: AccessState }) {
  const [form, setForm] = useState(asked);
  const put = (name: keyof Asked) => (event: { currentTarget: { value: string } }) =>
    setForm({ ...form, [name]: event.currentTarget.value });
  const submit = (event: Event): void => {
    event.preventDefault();
    go(href(["access"], { try: "1", ...form }));
  };
  const fields = [
    { name: "as", label: "Who", hint: "the name of a token, or issuer and subject with a space between" },
    { name: "groups", label: "Groups", hint: "with commas between" },
    { name: "scopes", label: "Scopes", hint: "with spaces between" },
    { name: "client", label: "OAuth client", hint: "its id" },
  ] as const;
  return (
    <form class="form ask" onSubmit={submit}>
      {fields.map(({ name, label, hint }) => (
        <div class="field" key={name}>
          <label for={`ask-${name}`}>{label}</label>
          <input
            type="text"
            id={`ask-${name}`}
            name={name}
            value={form[name]}
            autocomplete="off"
            spellcheck={false}
            placeholder={name === "as" ? "anyone" : ""}
            aria-describedby={`ask-${name}-hint`}
            {...(name === "as" && { list: "ask-names", "data-search": true })}
            onInput={put(name)}
          />
          <small class="muted" id={`ask-${name}-hint`}>
            {hint}
          </small>
        </div>
      ))}
      <datalist id="ask-names">
        {[...access.clients.map(({ name }) => name), ...access.issuers.map((issuer) => `${issuer} `)].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div class="field">
        <label for="ask-profile">Endpoint</label>
        <select id="ask-profile" name="profile" value={form.profile} onChange={put("profile")}>
          <option value="">/mcp</option>
          {access.profiles.map(({ name, endpoint }) => (
            <option key={name} value={name}>
              {endpoint}
            </option>
          ))}
        </select>
      </div>
      <div class="form-buttons">
        <button type="submit" class="primary">
          Show what it sees
        </button>
      </div>
    </form>
  );
}

function Answer({ asked }: { asked: Asked }) {
  const { servers, reloads } = useLive();
  const [view, setView] = useState<PrincipalView>();
  const [problem, setProblem] = useState("");
  const key = JSON.stringify(requestOf(asked));
  // Servers that come and go change what there is to see.
  const catalog = servers?.map(({ id, state, counts }) => `${id} ${state} ${counts.tools}`).join();
  useEffect(() => {
    let isStale = false;
    post<PrincipalView>("/api/access/view", JSON.parse(key)).then(
      (found) => {
        if (isStale) return;
        setView(found);
        setProblem("");
      },
      (error: Error) => {
        if (!isStale) setProblem(error.message);
      },
    );
    return () => {
      isStale = true;
    };
  }, [key, catalog, reloads]);
  if (problem) return <Problem>{visible(problem)}</Problem>;
  if (!view) return <Loading what="what it sees" />;
  const who = asked.as.trim() === "" ? "anyone" : asked.as.trim();
  return (
    <div class="answer" role="region" aria-label="What it sees">
      <p>
        <strong>{visible(who)}</strong> at <code>{view.endpoint}</code>:{" "}
        {view.exists ? (
          <>
            sees {plural(view.counts.visible, "entry", "entries")}, {view.counts.hidden} are hidden
            {view.counts.asked > 0 && `, a person is asked for ${view.counts.asked}`}.{" "}
            <span class="muted">{view.why}.</span>
          </>
        ) : (
          <span class="error">{view.why}.</span>
        )}
      </p>
      {view.items.length === 0 ? (
        <Empty title="No server has listed anything" />
      ) : (
        <Seen view={view} request={requestOf(asked)} />
      )}
    </div>
  );
}

/** The question as the API takes it: what is empty is left out. */
function requestOf({ as, groups, scopes, client, profile }: Asked): Record<string, unknown> {
  const list = (text: string, between: RegExp): string[] => text.split(between).flatMap((one) => one.trim() || []);
  return {
    ...(as.trim() !== "" && { as: as.trim() }),
    ...(groups.trim() !== "" && { groups: list(groups, /,/) }),
    ...(scopes.trim() !== "" && { scopes: list(scopes, /[\s,]+/) }),
    ...(client.trim() !== "" && { client: client.trim() }),
    ...(profile !== "" && { profile }),
  };
}

function summaryOf({ tokens, clients, issuers, rules, profiles, default: fallback }: AccessState): string {
  const who = [
    clients.length > 0 ? plural(clients.length, "named token") : "",
    issuers.length > 0 ? `access tokens of ${plural(issuers.length, "issuer")}` : "",
  ].filter(Boolean);
  const first = tokens
    ? `Clients need a credential${who.length > 0 ? `: ${who.join(", ")}` : ""}.`
    : "Clients need no credential: everybody who reaches the gateway is the same.";
  const isOpen = rules.length === 0 && fallback === "allow" && profiles.length === 0;
  return isOpen ? `${first} No profile and no rule limits anybody.` : first;
}
