/** The page as a whole: navigation, the connection's state, keys, and the panel for the address. */
import { useEffect, useState } from "preact/hooks";
import { ApiProblem, logIn } from "./api.ts";
import { duration } from "./format.ts";
import { connect, useLive } from "./live.ts";
import { Access } from "./panels/access.tsx";
import { Approval, Approvals } from "./panels/approvals.tsx";
import { Calls, CallView } from "./panels/calls.tsx";
import { Catalog, type Kind, kinds } from "./panels/catalog.tsx";
import { Clients } from "./panels/clients.tsx";
import { Config } from "./panels/config.tsx";
import { Entry } from "./panels/entry.tsx";
import { Lock, LockedServer } from "./panels/lock.tsx";
import { Logins } from "./panels/logins.tsx";
import { Logs } from "./panels/logs.tsx";
import { Overview } from "./panels/overview.tsx";
import { Server, Servers } from "./panels/servers.tsx";
import { Empty } from "./parts/small.tsx";
import { followLinks, go, href, type PageAddress, usePlace } from "./router.ts";

const PAGES = [
  { id: "", label: "Overview", key: "o" },
  { id: "servers", label: "Servers", key: "s" },
  { id: "catalog", label: "Catalog", key: "t" },
  { id: "calls", label: "Calls", key: "c" },
  { id: "approvals", label: "Approvals", key: "a" },
  { id: "lock", label: "Lock", key: "k" },
  { id: "clients", label: "Clients", key: "l" },
  { id: "access", label: "Access", key: "p" },
  { id: "logins", label: "Logins", key: "i" },
  { id: "logs", label: "Log", key: "g" },
  { id: "config", label: "Config", key: "f" },
] as const;

export function App() {
  const place = usePlace();
  const { connection, problem, state, approvals } = useLive();
  // What a person should look at, by page.
  const waiting: Readonly<Record<string, number | undefined>> = {
    approvals: approvals?.filter((row) => row.state === "held").length,
    lock: state?.lock.differing,
  };
  const [attempt, setAttempt] = useState(0);
  const [isLinkRefused, setLinkRefused] = useState(false);
  const [help, setHelp] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    void enter().then((isRefused) => {
      setLinkRefused(isRefused);
      return connect(stop.signal);
    });
    return () => stop.abort();
  }, [attempt]);
  useEffect(() => {
    const onKey = keys({ toggleHelp: (to) => setHelp((old) => to ?? !old) });
    document.addEventListener("keydown", onKey);
    document.addEventListener("click", followLinks);
    return () => {
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("click", followLinks);
    };
  }, []);
  const here = place.path[0] ?? "";
  const label = PAGES.find(({ id }) => id === here)?.label ?? "Goblin";
  useEffect(() => {
    // At phone width the navigation scrolls.
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [here, connection]);
  useEffect(() => {
    document.title = [...place.path.slice(1).reverse(), label, "Goblin"].join(" · ").slice(0, 100);
  }, [place]);
  if (connection === "locked")
    return <Login problem={isLinkRefused ? LINK_REFUSED : problem} onDone={() => setAttempt(attempt + 1)} />;
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="side">
        <a class="brand" href={href([])}>
          <img src="/ui/icon.svg" alt="" width="28" height="28" /> Goblin
        </a>
        <nav aria-label="Pages">
          {PAGES.map(({ id, label: name, key }) => (
            <a
              key={id}
              href={href(id === "" ? [] : [id])}
              aria-current={id === here ? "page" : undefined}
              title={`g ${key}`}
            >
              {name}
              {(waiting[id] ?? 0) > 0 && <span class="tag tag-bad">{waiting[id]}</span>}
            </a>
          ))}
        </nav>
        <footer class="side-foot">
          <span class={`live live-${connection}`} role="status">
            {connection === "live" ? "live" : connection === "lost" ? "not connected" : "connecting"}
          </span>
          {state && <small class="muted">{`up ${duration(state.uptimeMs)}`}</small>}
          <button type="button" class="quiet" onClick={() => setHelp(true)}>
            Keys <kbd>?</kbd>
          </button>
        </footer>
      </header>
      <main id="main" tabIndex={-1}>
        {connection === "lost" && (
          <p class="notice" role="alert">
            {problem}. What you see is the last that was known; the page connects again by itself.
          </p>
        )}
        <Panel place={place} />
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

function Panel({ place: { path } }: { place: PageAddress }) {
  const [page = "", first, second] = path;
  switch (page) {
    case "":
      return <Overview />;
    case "servers":
      return first === undefined ? <Servers /> : <Server id={first} />;
    case "catalog": {
      const kind = kinds.find((known) => known === (first ?? "tools")) as Kind | undefined;
      if (kind) return second === undefined ? <Catalog kind={kind} /> : <Entry kind={kind} name={second} />;
      break;
    }
    case "calls":
      return first === undefined ? <Calls /> : <CallView id={first} />;
    case "approvals":
      return first === undefined ? <Approvals /> : <Approval id={first} />;
    case "lock":
      return first === undefined ? <Lock /> : <LockedServer id={first} />;
    case "clients":
      return <Clients />;
    case "access":
      return <Access />;
    case "logins":
      return <Logins />;
    case "logs":
      return <Logs />;
    case "config":
      return <Config />;
  }
  return (
    <div class="panel">
      <Empty title="There is no such view">
        <a href={href([])}>Go to the overview</a>
      </Empty>
    </div>
  );
}

const LINK_REFUSED = "This link was used already, or has expired: it opens the page once, within two minutes.";

/**
 * Takes the one-time code of `goblin ui` out of the address and gets a cookie for it. Returns
 * whether the gateway refused it.
 */
async function enter(): Promise<boolean> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return false;
  history.replaceState(null, "", location.pathname + location.search);
  return logIn({ code }).then(
    () => false,
    (error: unknown) => error instanceof ApiProblem && error.status === 401,
  );
}

function Login({ problem, onDone }: { problem: string; onDone: () => void }) {
  const [token, setToken] = useState("");
  const [refused, setRefused] = useState("");
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await logIn({ token: token.trim() });
      onDone();
    } catch (error) {
      setRefused(error instanceof ApiProblem ? error.message : String(error));
    }
  };
  return (
    <main class="login">
      <img src="/ui/icon.svg" alt="" width="64" height="64" />
      <h1>Goblin</h1>
      <p>{problem}</p>
      <p class="muted">
        Run <code>goblin ui</code> where the gateway runs, and open the link that it prints. Or give an admin token:
      </p>
      <form class="form" onSubmit={(event) => void submit(event)}>
        <div class="field">
          <label for="token">Admin token</label>
          <input
            id="token"
            type="password"
            autocomplete="off"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
          {refused && <small class="error">{refused}</small>}
        </div>
        <button type="submit" class="primary">
          Open
        </button>
      </form>
    </main>
  );
}

function Help({ onClose }: { onClose: () => void }) {
  const rows: [string, string][] = [
    ["/", "search in this view"],
    ...PAGES.map(({ label, key }): [string, string] => [`g ${key}`, label]),
    ["Esc", "leave a field, close this"],
    ["?", "these keys"],
  ];
  return (
    // A dialog's own keys: Escape closes it, and so does a click beside it.
    <div class="veil" onClick={onClose} onKeyDown={(event) => event.key === "Escape" && onClose()} role="presentation">
      <div class="dialog" role="dialog" aria-label="Keys" aria-modal="true">
        <h2>Keys</h2>
        <dl class="facts">
          {rows.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <button type="button" ref={(button) => button?.focus()} onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  );
}

/** The page's keys. None of them acts while somebody types. */
function keys({ toggleHelp }: { toggleHelp: (to?: boolean) => void }) {
  let isGoing = false;
  return (event: KeyboardEvent): void => {
    const target = event.target instanceof HTMLElement ? event.target : undefined;
    const isTyping = target?.matches("input, textarea, select") ?? false;
    if (event.key === "Escape") {
      toggleHelp(false);
      if (isTyping) target?.blur();
      return;
    }
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const wasGoing = isGoing;
    isGoing = event.key === "g" && !wasGoing;
    if (wasGoing) {
      const page = PAGES.find(({ key }) => key === event.key);
      if (page) go(href(page.id === "" ? [] : [page.id]));
      return;
    }
    if (event.key === "?") toggleHelp();
    if (event.key === "/") {
      event.preventDefault();
      const field = document.querySelector<HTMLInputElement>("[data-search]");
      if (field) field.focus();
      else go(href(["catalog", "tools"]));
    }
  };
}
