/** Small pieces that every panel uses: states, copy buttons, empty and loading states. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { copyText } from "../copy-text.ts";
import { useLive } from "../live.ts";
import { go, setQuery, usePlace } from "../router.ts";

/** A server's state, as a dot and a word: not everybody can tell the colours apart. */
export function State({ state }: { state: string }) {
  return <span class={`state state-${state}`}>{state}</span>;
}

export function Outcome({ outcome }: { outcome: string }) {
  return <span class={`outcome outcome-${outcome === "ok" ? "ok" : "bad"}`}>{outcome}</span>;
}

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [done, setDone] = useState("");
  const copy = async (): Promise<void> => {
    if (await copyText(text)) setDone("Copied");
    // A field with the text in it, selected.
    else window.prompt("This browser lets no page copy. Copy the text yourself:", text);
    setTimeout(() => setDone(""), 1500);
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      {done || label}
    </button>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <div class="empty" role="status">
      <p class="shimmer">Loading {what}…</p>
    </div>
  );
}

export function Problem({ children }: { children: ComponentChildren }) {
  return (
    <p class="problem" role="alert">
      {children}
    </p>
  );
}

export function Section(props: { title: string; extra?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={props.title}>
      <header class="card-head">
        <h2>{props.title}</h2>
        {props.extra}
      </header>
      {props.children}
    </section>
  );
}

export function Figure({ label, value, note }: { label: string; value: string; note?: string | undefined }) {
  return (
    <div class="figure">
      <span class="figure-label">{label}</span>
      <strong>{value}</strong>
      {note && <small>{note}</small>}
    </div>
  );
}

/** A search that is part of the address. The key `/` leads to it. */
export function SearchBox({ label }: { label: string }) {
  const { query } = usePlace();
  return (
    <input
      type="search"
      data-search
      aria-label={label}
      placeholder="Search  /"
      value={query.get("q") ?? ""}
      onInput={(event) => setQuery("q", event.currentTarget.value)}
    />
  );
}

/** The choice of one server, as part of the address. */
export function ServerFilter() {
  const { servers } = useLive();
  const { query } = usePlace();
  return (
    <select
      aria-label="Server"
      value={query.get("server") ?? ""}
      onChange={(event) => setQuery("server", event.currentTarget.value)}
    >
      <option value="">all servers</option>
      {(servers ?? []).map(({ id }) => (
        <option key={id}>{id}</option>
      ))}
    </select>
  );
}

/** Views of one thing, each with its own address. */
export function Tabs({
  tabs,
  current,
}: {
  tabs: readonly { id: string; label: string; to: string }[];
  current: string;
}) {
  return (
    <nav class="tabs" aria-label="Views">
      {tabs.map(({ id, label, to }) => (
        <a key={id} href={to} aria-current={id === current ? "page" : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}

/** Lets a whole row be clicked; its link remains what the keyboard and readers use. */
export const rowLink = (to: string) => ({
  onClick: (event: MouseEvent) => {
    if (!(event.target instanceof Element) || event.target.closest("a, button")) return;
    if (String(getSelection()) === "") go(to);
  },
});
