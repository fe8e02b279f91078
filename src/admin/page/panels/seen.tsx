/** What a principal sees, entry by entry, and why one entry is seen or not. */
import { useEffect, useState } from "preact/hooks";
import type { PrincipalView, ViewedEntry } from "../../api/access/schema.ts";
import type { ExplainResult } from "../../api/explain/schema.ts";
import { post } from "../api.ts";
import { ms, visible } from "../format.ts";
import { Facts } from "../parts/facts.tsx";
import { Empty, Loading, Problem } from "../parts/small.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { href } from "../router.ts";

const SHOWN = ["all", "visible", "hidden"] as const;
const ROW = 40;
const MAX_ROWS = 9;

interface Asked {
  readonly view: PrincipalView;
  readonly request: Record<string, unknown>;
}

export function Seen({ view, request }: Asked) {
  const [shown, setShown] = useState<(typeof SHOWN)[number]>("all");
  const [text, setText] = useState("");
  const [open, setOpen] = useState<ViewedEntry>();
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const items = view.items.filter(
    ({ name, serverId, visible: isVisible }) =>
      (shown === "all" || isVisible === (shown === "visible")) &&
      words.every((word) => `${serverId} ${name}`.toLowerCase().includes(word)),
  );
  const isOpen = open && items.some((item) => keyOf(item) === keyOf(open));
  return (
    <>
      <div class="filters">
        <input
          type="search"
          aria-label="Search in what it sees"
          placeholder="Search"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <select
          aria-label="Which entries"
          value={shown}
          onChange={(event) => setShown(event.currentTarget.value as typeof shown)}
        >
          {SHOWN.map((one) => (
            <option key={one} value={one}>
              {one === "all" ? "seen and hidden" : one === "visible" ? "seen" : "hidden"}
            </option>
          ))}
        </select>
      </div>
      {items.length === 0 ? (
        <Empty title="Nothing of this kind" />
      ) : (
        <div class="seen-list" style={{ height: `${Math.min(items.length, MAX_ROWS) * ROW + 2}px` }}>
          <VirtualList
            label="What it sees"
            items={items}
            rowHeight={ROW}
            keyOf={keyOf}
            row={(item) => (
              <button
                type="button"
                class={`seen ${item.visible ? "" : "seen-hidden"}`}
                aria-expanded={isOpen === true && keyOf(open) === keyOf(item)}
                onClick={() => setOpen(isOpen && keyOf(open) === keyOf(item) ? undefined : item)}
              >
                <Effect effect={item.effect} />
                <span class="cell-main">{visible(item.name)}</span>
                <span class="cell-minor">{item.kind}</span>
                <span class="seen-why">{visible(item.why)}</span>
              </button>
            )}
          />
        </div>
      )}
      {isOpen && <Why key={keyOf(open)} entry={open} request={request} />}
    </>
  );
}

export function Effect({ effect }: { effect: string }) {
  return <span class={`effect effect-${effect}`}>{effect}</span>;
}

/** Everything about one entry: the gateway is asked again, for this one alone. */
function Why({ entry, request }: { entry: ViewedEntry; request: Record<string, unknown> }) {
  const [found, setFound] = useState<ExplainResult>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    post<ExplainResult>("/api/explain", { ...request, name: entry.name }).then(setFound, (error: Error) =>
      setProblem(error.message),
    );
  }, []);
  if (problem) return <Problem>{visible(problem)}</Problem>;
  if (!found) return <Loading what="the explanation" />;
  const place = (line: number | null): string => (line === null ? "" : ` (line ${line})`);
  const facts: [string, string][] = [
    ["Listed", found.listed ? "yes" : `no: ${found.why}`],
    ["A call", entry.effect === "depends" ? "depends on its arguments" : callText(found)],
    ["Decided by", entry.effect === "depends" ? "" : (found.decidedBy ?? "")],
    ["Its client is told", entry.effect === "depends" ? "" : (found.refusal ?? "")],
    ["Server", `${found.serverId}, ${found.state}`],
    ["Its own name", found.originalName],
    ["Timeout", `${ms(found.timeout.ms)}, from ${found.timeout.from}${place(found.timeout.line)}`],
    ["Tokens", found.tokens === null ? "" : String(found.tokens)],
  ];
  return (
    <section class="why-card" aria-label={`Why: ${visible(entry.name)}`}>
      <h3>
        <a href={href(["catalog", `${entry.kind}s`, entry.name])}>{visible(entry.name)}</a>
      </h3>
      <Facts facts={facts} />
      {found.rules.length > 0 && (
        <ul class="rows" aria-label="Rules that match">
          {found.rules.map(({ id, effect, line, when, holds, problem: wrong }) => (
            <li key={id} class="row-plain">
              <Effect effect={effect} />
              <span class="cell-main">{visible(id)}</span>
              {when !== null && (
                <span class="cell-when">
                  when <code>{visible(when)}</code>
                  {holds !== null && ` (without arguments: ${holds ? "holds" : "does not hold"})`}
                  {wrong !== null && ` (without arguments: ${visible(wrong)})`}
                </span>
              )}
              <span class="cell-side">{line === null ? "" : `line ${line}`}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function callText({ effect, visible: isVisible }: ExplainResult): string {
  if (!isVisible) return "is answered as if it did not exist";
  return effect === "allow" ? "is allowed" : effect === "ask" ? "waits for a person" : "is refused";
}

function keyOf({ kind, serverId, name }: ViewedEntry): string {
  return `${kind} ${serverId} ${name}`;
}
