/**
 * Whose task it is that a server runs, so that what the server says of it reaches that client and
 * nobody else.
 *
 * Bounded: of too many tasks the oldest are forgotten. Nothing is lost by that: a client may always
 * ask for its task (`tasks/get`), and has to, since servers need not say anything.
 */
import type { Catalog } from "../catalog/catalog.ts";
import { notificationText } from "../protocol/json-rpc.ts";
import { exposeTaskIds } from "../protocol/task-ids.ts";
import type { Servers } from "../servers/servers.ts";
import type { SessionStore } from "./store.ts";

export interface TaskParts {
  readonly servers: Pick<Servers, "on">;
  /** Only a client with a session can be told something at any time; others have to ask. */
  readonly sessions: Pick<SessionStore, "on" | "get">;
  readonly catalog: Pick<Catalog, "snapshot">;
}

const MAX_TASKS = 10_000;
const MAX_EARLY = 100;

export class Tasks {
  readonly #parts: TaskParts;
  readonly #owners = new Map<string, string>();
  /** What was said of tasks before the answer that began them was seen. */
  readonly #early = new Map<string, string[]>();

  constructor(parts: TaskParts) {
    this.#parts = parts;
    parts.servers.on("taskStatus", (serverId, taskId, params) => this.#statusChanged(serverId, taskId, params));
    parts.servers.on("removed", (serverId) => this.#dropServer(serverId));
    parts.sessions.on("ended", ({ key }) => this.#dropClient(key));
  }

  started(serverId: string, taskId: string, clientKey: string): void {
    const key = keyOf(serverId, taskId);
    if (!this.#parts.sessions.get(clientKey)) return void this.#early.delete(key);
    this.#owners.set(key, clientKey);
    trim(this.#owners, MAX_TASKS);
    const early = this.#early.get(key);
    if (!early) return;
    this.#early.delete(key);
    // After the answer, which is the first that the client hears of its task.
    setImmediate(() => {
      for (const params of early) this.#tell(clientKey, serverId, params);
    });
  }

  #statusChanged(serverId: string, taskId: string, params: string): void {
    const key = keyOf(serverId, taskId);
    const owner = this.#owners.get(key);
    if (owner !== undefined) return this.#tell(owner, serverId, params);
    this.#early.set(key, [...(this.#early.get(key) ?? []), params].slice(-MAX_EARLY));
    trim(this.#early, MAX_EARLY);
  }

  #tell(clientKey: string, serverId: string, params: string): void {
    const prefix = this.#parts.catalog.snapshot.resources.prefixOf(serverId);
    const exposed = exposeTaskIds(params, prefix);
    this.#parts.sessions.get(clientKey)?.notify(notificationText("notifications/tasks/status", exposed));
  }

  #dropClient(clientKey: string): void {
    for (const [key, owner] of this.#owners) if (owner === clientKey) this.#owners.delete(key);
  }

  #dropServer(serverId: string): void {
    const isOwn = (key: string): boolean => key.startsWith(`${serverId} `);
    for (const key of this.#owners.keys()) if (isOwn(key)) this.#owners.delete(key);
    for (const key of this.#early.keys()) if (isOwn(key)) this.#early.delete(key);
  }
}

function keyOf(serverId: string, taskId: string): string {
  return `${serverId} ${taskId}`;
}

function trim(map: Map<string, unknown>, most: number): void {
  if (map.size > most) for (const oldest of map.keys()) return void map.delete(oldest);
}
