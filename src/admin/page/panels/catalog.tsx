/** Everything that clients can use: tools, prompts, resources and templates, in one search. */
import type { OwnToolRow, ToolRow } from "../../api/schema.ts";
import { count, plural, visible } from "../format.ts";
import { useLive } from "../live.ts";
import { Empty, Loading, SearchBox, ServerFilter, Tabs } from "../parts/small.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { href, setQuery, usePlace } from "../router.ts";

export const kinds = ["tools", "prompts", "resources", "templates"] as const;
export type Kind = (typeof kinds)[number];

interface Row {
  readonly key: string;
  readonly title: string;
  readonly about: string;
  /** Empty: it is the gateway's own. */
  readonly serverId: string;
  readonly side: string;
  readonly weight: number;
}

export function Catalog({ kind }: { kind: Kind }) {
  const live = useLive();
  const { query } = usePlace();
  const rows = rowsOf(live, kind);
  const own = live.ownTools?.length ?? 0;
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const server = query.get("server") ?? "";
  const order = query.get("by") ?? "name";
  const shown = rows
    ?.filter(
      (row) =>
        (server === "" || row.serverId === server) &&
        words.every((word) => row.title.toLowerCase().includes(word) || row.about.toLowerCase().includes(word)),
    )
    .sort((a, b) => (order === "weight" ? b.weight - a.weight : 0));
  return (
    <div class="panel panel-tall">
      <h1>Catalog</h1>
      <Tabs
        current={kind}
        tabs={kinds.map((id) => ({
          id,
          label: `${id} ${live.state ? count(live.state.counts[id] + (id === "tools" ? own : 0)) : ""}`,
          to: href(["catalog", id]),
        }))}
      />
      <div class="filters">
        <SearchBox label={`Search ${kind}`} />
        <ServerFilter />
        {kind === "tools" && (
          <select aria-label="Order" value={order} onChange={(event) => setQuery("by", event.currentTarget.value)}>
            <option value="name">by name</option>
            <option value="weight">by token cost</option>
          </select>
        )}
        {shown && rows && (
          <span class="muted">
            {shown.length === rows.length
              ? plural(rows.length, "entry", "entries")
              : `${shown.length} of ${rows.length}`}
          </span>
        )}
      </div>
      {!shown || !rows ? (
        <Loading what={kind} />
      ) : shown.length === 0 ? (
        <Empty title={rows.length === 0 ? `No ${kind}` : "Nothing found"}>
          {rows.length === 0 ? "No server has listed any." : "Try fewer words, or another server."}
        </Empty>
      ) : (
        <VirtualList
          label={kind}
          items={shown}
          rowHeight={56}
          keyOf={(row) => row.key}
          row={(row) => (
            <a class="entry" href={href(["catalog", kind, row.key])}>
              <span class="entry-title">{visible(row.title)}</span>
              <span class="entry-side">{row.side}</span>
              <span class="entry-about">{visible(row.about)}</span>
              <span class="entry-server">{row.serverId || "the gateway's own"}</span>
            </a>
          )}
        />
      )}
    </div>
  );
}

function rowsOf(live: ReturnType<typeof useLive>, kind: Kind): Row[] | undefined {
  switch (kind) {
    case "tools":
      return (
        live.tools &&
        live.ownTools && [
          ...live.tools.map((tool) => toolRow(tool, tool)),
          ...live.ownTools.map((tool) => toolRow(tool, { serverId: "", listed: true })),
        ]
      );
    case "prompts":
      return live.prompts?.map((prompt) => ({
        key: prompt.name,
        title: prompt.name,
        about: firstLine(prompt.description ?? prompt.title ?? ""),
        serverId: prompt.serverId,
        side: plural(prompt.arguments.length, "argument"),
        weight: prompt.calls,
      }));
    case "resources":
      return live.resources?.map((resource) => ({
        key: resource.uri,
        title: resource.title ?? resource.name,
        about: resource.uri,
        serverId: resource.serverId,
        side: [resource.mimeType, resource.subscribers > 0 ? plural(resource.subscribers, "subscriber") : ""]
          .filter(Boolean)
          .join(", "),
        weight: resource.size ?? 0,
      }));
    case "templates":
      return live.templates?.map((template) => ({
        key: template.uriTemplate,
        title: template.title ?? template.name,
        about: template.uriTemplate,
        serverId: template.serverId,
        side: template.mimeType ?? "",
        weight: 0,
      }));
  }
}

function toolRow(tool: OwnToolRow, { serverId, listed }: Pick<ToolRow, "serverId" | "listed">): Row {
  return {
    key: tool.name,
    title: tool.name,
    about: firstLine(tool.description ?? tool.title ?? ""),
    serverId,
    side: `${count(tool.tokens)} tokens${listed ? "" : ", by search"}`,
    weight: tool.tokens,
  };
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0]!.slice(0, 300);
}
