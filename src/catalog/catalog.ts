/**
 * The combined catalog of all servers: one immutable snapshot, replaced as a whole when a server's
 * lists change.
 *
 * Invariant: a reader that takes `catalog.snapshot` once never sees half a change. Changes within
 * one turn of the event loop become one snapshot and one set of events. `change` reports every
 * difference, `listed` only the lists that look different to clients.
 */
import { EventEmitter } from "node:events";
import type { ChangeKind } from "../protocol/methods.ts";
import { type Definition, emptyLists, type ServerLists } from "./definitions.ts";
import { createSnapshot, type ServerView, type Snapshot, type SnapshotSettings, withStandings } from "./snapshot.ts";
import { KNOWN, type Standing } from "./standing.ts";

export interface CatalogEvents {
  /** Entries of these kinds were added, removed or updated, listed or not. */
  change: [kinds: readonly ChangeKind[]];
  /** Clients now see these lists differently. */
  listed: [kinds: readonly ChangeKind[]];
  /**
   * There is a new snapshot with other entries or settings, whether clients see a difference or
   * not.
   */
  swap: [];
  /** There is a new snapshot. Perhaps only the standing of a server differs. */
  snapshot: [];
}

/** The light form of a tool: enough for a model to choose it. */
export interface ToolCard {
  readonly name: string;
  readonly description: string | undefined;
  readonly serverId: string;
}

export class Catalog extends EventEmitter<CatalogEvents> {
  #servers = new Map<string, ServerView>();
  #snapshot: Snapshot;
  #settings: SnapshotSettings;
  #scheduled = false;
  /** True if a reported change goes beyond the standing of servers. */
  #differs = false;

  constructor(settings: SnapshotSettings) {
    super();
    this.#settings = settings;
    this.#snapshot = createSnapshot([], settings);
  }

  /** Returns the newest snapshot, with every change reported so far. */
  get snapshot(): Snapshot {
    if (this.#scheduled) this.#swap();
    return this.#snapshot;
  }

  /**
   * Adds a configured server or replaces its settings, and keeps its lists and its standing.
   * Servers keep the order in which they were added.
   */
  put(server: Omit<ServerView, "lists" | "standing">): void {
    const { lists, standing } = this.#servers.get(server.id) ?? { lists: emptyLists, standing: KNOWN };
    this.#servers.set(server.id, { ...server, lists, standing });
    this.#schedule();
  }

  /** Sets the standing of a server. */
  stand(serverId: string, standing: Standing): void {
    const server = this.#servers.get(serverId);
    if (!server || (server.standing.kind === standing.kind && standing.kind !== "down")) return;
    this.#servers.set(serverId, { ...server, standing });
    this.#schedule((server.standing.kind === "disabled") !== (standing.kind === "disabled"));
  }

  update(serverId: string, lists: ServerLists): void {
    const server = this.#servers.get(serverId);
    if (!server) return;
    this.#servers.set(serverId, { ...server, lists });
    this.#schedule();
  }

  remove(serverId: string): void {
    if (this.#servers.delete(serverId)) this.#schedule();
  }

  /** Reorders the servers. The order decides which server keeps a contested name. */
  arrange(order: readonly string[]): void {
    const known = this.#servers;
    this.#servers = new Map(order.flatMap((id) => (known.has(id) ? [[id, known.get(id)!]] : [])));
    this.#schedule();
  }

  configure(settings: SnapshotSettings): void {
    this.#settings = settings;
    this.#schedule();
  }

  /**
   * Returns the tools of all servers, listed or not: complete definitions, or the light form
   * without schemas.
   */
  listTools(options: { readonly compact: true }): ToolCard[];
  listTools(options?: { readonly compact?: false }): Definition["value"][];
  listTools({ compact = false }: { readonly compact?: boolean } = {}): ToolCard[] | Definition["value"][] {
    const { entries } = this.snapshot.tools;
    if (!compact) return entries.map(({ text }) => JSON.parse(text) as Definition["value"]);
    return entries.map(({ exposed, serverId, text }) => {
      const { description } = JSON.parse(text) as { description?: unknown };
      return { name: exposed, description: typeof description === "string" ? description : undefined, serverId };
    });
  }

  /** Returns a tool's complete definition, with its schema, by any name that a call accepts. */
  getTool(name: string): Definition["value"] | undefined {
    const entry = this.snapshot.tools.find(name);
    return entry && (JSON.parse(entry.text) as Definition["value"]);
  }

  #schedule(differs = true): void {
    this.#differs ||= differs;
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      if (this.#scheduled) this.#swap();
    });
  }

  #swap(): void {
    this.#scheduled = false;
    const before = this.#snapshot;
    const servers = [...this.#servers.values()];
    const after = this.#differs ? createSnapshot(servers, this.#settings, before) : withStandings(before, servers);
    const differs = this.#differs;
    this.#differs = false;
    this.#snapshot = after;
    this.emit("snapshot");
    if (!differs) return;
    this.emit("swap");
    const listed = changedLists(before, after);
    const sameTools = sameTexts(before.tools.entries, after.tools.entries);
    const kinds = sameTools || listed.includes("tools") ? listed : (["tools", ...listed] as const);
    if (kinds.length === 0) return;
    this.emit("change", kinds);
    if (listed.length > 0) this.emit("listed", listed);
  }
}

function changedLists(before: Snapshot, after: Snapshot): ChangeKind[] {
  const kinds: ChangeKind[] = [];
  if (!sameTexts(before.pagers.tools.entries, after.pagers.tools.entries)) kinds.push("tools");
  if (!sameTexts(before.pagers.prompts.entries, after.pagers.prompts.entries)) kinds.push("prompts");
  const sameResources = sameTexts(before.pagers.resources.entries, after.pagers.resources.entries);
  if (!sameResources || !sameTexts(before.pagers.templates.entries, after.pagers.templates.entries)) {
    kinds.push("resources");
  }
  return kinds;
}

function sameTexts(a: readonly { readonly text: string }[], b: readonly { readonly text: string }[]): boolean {
  return a === b || (a.length === b.length && a.every((entry, i) => entry.text === b[i]!.text));
}
