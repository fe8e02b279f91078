/**
 * The owners of the tasks that servers run. A server behind a shared connection cannot tell clients
 * apart. So only the owner can use a task here, and only the owner gets its status notifications.
 *
 * Invariant: an id opens a task only for the owner that it was sealed for. The owner is the token's
 * holder, in any session; without tokens, the session. Without either, anyone with the id is the
 * owner, so the id must be unguessable even if the server's ids are not. If a server reuses an id,
 * the task belongs to the new owner. The book decides which tasks are listed and notified. It is
 * bounded, per owner and overall. A task that drops out of it stays closed to others.
 */

import { timingSafeEqual } from "node:crypto";
import { memberText } from "../../lib/json/json-text.ts";
import { BoundedMap } from "../../lib/structures/bounded-map.ts";
import { exposeTaskIds, joinTaskId, splitTaskId, type TaskIdParts } from "../../mcp/identifiers/task-ids.ts";
import type { Client } from "../../mcp/protocol/call.ts";
import { notificationText } from "../../mcp/protocol/json-rpc.ts";
import type { Catalog } from "../../upstream/catalog/catalog.ts";
import type { TaskNote } from "../../upstream/servers/events.ts";
import type { PeerOwner } from "../../upstream/servers/owner.ts";
import { SESSIONS } from "../../upstream/servers/owner.ts";
import type { Servers } from "../../upstream/servers/servers.ts";
import type { Sealer } from "./seal.ts";
import type { SessionStore } from "./store.ts";

export interface TaskParts {
  readonly servers: Pick<Servers, "on" | "ownerOf" | "isUsable" | "watchTask" | "unwatchTask">;
  /** A client with a session can be notified at any time. Others must listen or poll. */
  readonly sessions: Pick<SessionStore, "on" | "get">;
  readonly catalog: Pick<Catalog, "snapshot" | "view">;
  readonly sealer: Pick<Sealer, "mark">;
  /** Names this replica, whose connections run its tasks. Undefined: there are no replicas. */
  readonly tag?: string | undefined;
  /** Whether the server is a program, which every replica runs for itself. */
  readonly isProgram?: (serverId: string) => boolean;
}

/** What a client shows of a task. */
type Shown = Pick<TaskIdParts, "seal" | "tag" | "taskId">;

/** The client that uses a task. */
export type TaskClient = Pick<Client, "key" | "scope" | "taskOwner" | "visibility">;

export interface Task {
  /** The key in the book. */
  readonly key: string;
  readonly serverId: string;
  readonly taskId: string;
  readonly owner: string;
  /** Names the replica that started it. */
  readonly tag: string;
  /** Its position among the owner's tasks. */
  readonly number: number;
  /** The client that used it last and gets its notifications. */
  clientKey: string;
  /** The owner's streams that were opened for it. Each gets the params of its notifications. */
  readonly streams: Set<(params: string) => void>;
  /** Whether the server was asked to report it. */
  isWatched: boolean;
  /** The tool that started it, by the name that clients know; undefined if that is not known. */
  tool: string | undefined;
  /** The id of the gateway's task that it goes on for: its client knows no other. */
  alias: string | undefined;
}

interface Owned {
  count: number;
  readonly tasks: Map<string, Task>;
}

const MAX_TASKS = 10_000;
const MAX_PER_OWNER = 1000;
const MAX_EARLY = 100;
/** The states that a task stays in. */
const FINAL = new Set(['"completed"', '"failed"', '"cancelled"']);

export class Tasks {
  readonly #parts: TaskParts;
  readonly #tasks = new Map<string, Task>();
  readonly #owners = new Map<string, Owned>();
  /** Status notifications that arrived before the answer that started their task. */
  readonly #early = new BoundedMap<string, TaskNote[]>(MAX_EARLY);

  constructor(parts: TaskParts) {
    this.#parts = parts;
    parts.servers.on("taskStatus", (...told) => this.#statusChanged(...told));
    parts.servers.on("status", (serverId) => this.#watchAgain(serverId));
    parts.servers.on("removed", (serverId) => this.#dropServer(serverId));
    parts.sessions.on("ended", ({ key }) => this.#dropClient(key));
  }

  started(serverId: string, taskId: string, client: TaskClient): Task {
    const key = this.#key(serverId, taskId, client);
    const task = this.#enter({ serverId, taskId, tag: this.#parts.tag ?? "" }, client);
    if (client.scope === client.key) void this.#watch(task);
    const early = this.#early.get(key);
    if (!early) return task;
    this.#early.delete(key);
    // The client must see the answer first: it announces the task.
    setImmediate(() => {
      for (const note of early) this.#tell(key, note);
    });
    return task;
  }

  /** Has a task of this client known by another id from now on. */
  rename(exposed: string, client: TaskClient, alias: string): void {
    const split = splitTaskId(exposed);
    const serverId = split && this.#parts.catalog.view(client).resources.serverOfPrefix(split.prefix);
    const task = serverId === undefined ? undefined : this.#tasks.get(this.#key(serverId, split!.taskId, client));
    if (task?.owner === client.taskOwner) task.alias = alias;
  }

  /** Returns the tool that started a task of this client, if that is known. */
  toolOf(serverId: string, taskId: string, client: TaskClient): string | undefined {
    const task = this.#tasks.get(this.#key(serverId, taskId, client));
    return task?.owner === client.taskOwner ? task.tool : undefined;
  }

  /**
   * Whether the id belongs to this client. If so, the client gets the task's notifications from now
   * on.
   */
  opens(serverId: string, { seal, tag, taskId }: Shown, client: TaskClient): boolean {
    if (!this.#owns(serverId, { seal, tag, taskId }, client)) return false;
    const task = this.#enter({ serverId, taskId, tag }, client);
    if (client.scope === client.key && !task.isWatched) void this.#watch(task);
    return true;
  }

  /**
   * Delivers the notifications of a task to a stream of its owner, until the returned function is
   * called. Resolves with undefined if the client does not own it, or its server will not report
   * it.
   */
  async listen(
    exposed: string,
    client: TaskClient,
    deliver: (params: string) => void,
  ): Promise<(() => void) | undefined> {
    const split = splitTaskId(exposed);
    const snapshot = this.#parts.catalog.view(client);
    const serverId = split && snapshot.resources.serverOfPrefix(split.prefix);
    if (!split || serverId === undefined || !this.#owns(serverId, split, client)) return undefined;
    if (snapshot.standing(serverId).kind === "disabled") return undefined;
    const { taskId, tag } = split;
    const known = this.#tasks.get(this.#key(serverId, taskId, client));
    const task = known ?? this.#enter({ serverId, taskId, tag }, client);
    task.streams.add(deliver);
    const stop = (): void => {
      task.streams.delete(deliver);
      if (task.streams.size === 0 && !this.#parts.sessions.get(task.clientKey)) this.#unwatch(task);
    };
    if (await this.#watch(task)) return stop;
    stop();
    return undefined;
  }

  /**
   * Returns the id by which this client knows the task, or undefined if the client does not own it.
   */
  exposed(serverId: string, taskId: string, client: TaskClient): string | undefined {
    const task = this.#tasks.get(this.#key(serverId, taskId, client));
    return task?.owner === client.taskOwner ? this.#exposed(task) : undefined;
  }

  /** Returns the owner's tasks after the one with this number, oldest first. */
  page(owner: string, after: number, size: number): { readonly page: readonly Task[]; readonly more: boolean } {
    const behind: Task[] = [];
    // Tasks without an owner belong to anyone with their ids, so no list may show them.
    if (owner === "") return { page: [], more: false };
    for (const task of this.#owners.get(owner)?.tasks.values() ?? []) {
      if (task.number <= after) continue;
      if (behind.length === size) return { page: behind, more: true };
      behind.push(task);
    }
    return { page: behind, more: false };
  }

  #owns(serverId: string, { seal, tag, taskId }: Shown, client: TaskClient): boolean {
    const known = this.#tasks.get(this.#key(serverId, taskId, client));
    const fits = isEqual(seal, this.#seal({ serverId, taskId, tag, owner: client.taskOwner }));
    // Here, another replica's id would mean another task.
    if (tag !== (this.#parts.tag ?? "") && this.#parts.isProgram?.(serverId)) return false;
    return fits && (!known || known.owner === client.taskOwner);
  }

  #statusChanged(serverId: string, note: TaskNote, owner: TaskClient | undefined): void {
    const key = owner ? this.#key(serverId, note.taskId, owner) : keyOf(serverId, note.taskId, "");
    if (this.#tasks.has(key)) return this.#tell(key, note);
    this.#early.set(key, [...(this.#early.get(key) ?? []), note].slice(-MAX_EARLY));
  }

  #tell(key: string, { method, params }: TaskNote): void {
    const task = this.#tasks.get(key);
    if (!task) return;
    const text = exposeTaskIds(params, (id) => (id === task.taskId ? this.#exposed(task) : undefined));
    this.#parts.sessions.get(task.clientKey)?.notify(notificationText(method, text));
    for (const deliver of task.streams) deliver(text);
    if (FINAL.has(memberText(params, "status") ?? "")) this.#unwatch(task);
  }

  /** Asks the server to report the task. Resolves with whether it will. */
  async #watch(task: Task): Promise<boolean> {
    task.isWatched = true;
    task.isWatched = await this.#parts.servers.watchTask(task.serverId, task.taskId, this.#ownerOf(task));
    return task.isWatched;
  }

  #unwatch(task: Task): void {
    if (!task.isWatched) return;
    task.isWatched = false;
    void this.#parts.servers.unwatchTask(task.serverId, task.taskId, this.#ownerOf(task));
  }

  /** A new connection to the server knows nothing of what the one before was asked. */
  #watchAgain(serverId: string): void {
    if (!this.#parts.servers.isUsable(serverId)) return;
    for (const task of this.#tasks.values()) {
      const isWanted = task.isWatched || task.streams.size > 0;
      if (task.serverId === serverId && isWanted) void this.#watch(task);
    }
  }

  /** Returns whose connection runs the task, if it is not the one that all clients share. */
  #ownerOf({ key, serverId, taskId, clientKey }: Task): PeerOwner {
    const session = this.#parts.sessions.get(clientKey);
    if (key !== keyOf(serverId, taskId, "")) return session;
    return session && this.#parts.servers.ownerOf(serverId, clientKey) === SESSIONS ? SESSIONS : undefined;
  }

  /** Removes a task that the server no longer knows. */
  forget(task: Task): void {
    const { key } = task;
    if (this.#tasks.get(key) !== task) return;
    this.#unwatch(task);
    this.#tasks.delete(key);
    const owned = this.#owners.get(task.owner)!;
    owned.tasks.delete(key);
    if (owned.tasks.size === 0) this.#owners.delete(task.owner);
  }

  /** Removes the tasks that only the ended session could own. */
  #dropClient(clientKey: string): void {
    for (const task of this.#owners.get(clientKey)?.tasks.values() ?? []) this.forget(task);
  }

  #dropServer(serverId: string): void {
    for (const task of this.#tasks.values()) if (task.serverId === serverId) this.forget(task);
    for (const key of this.#early.keys()) if (key.startsWith(`[${JSON.stringify(serverId)},`)) this.#early.delete(key);
  }

  #enter({ serverId, taskId, tag }: Pick<Task, "serverId" | "taskId" | "tag">, client: TaskClient): Task {
    const { key: clientKey, taskOwner } = client;
    const key = this.#key(serverId, taskId, client);
    const known = this.#tasks.get(key);
    if (known?.owner === taskOwner) {
      known.clientKey = clientKey;
      return known;
    }
    if (known) this.forget(known);
    const owned = this.#owners.get(taskOwner) ?? { count: 0, tasks: new Map<string, Task>() };
    const number = ++owned.count;
    const task: Task = {
      key,
      serverId,
      taskId,
      owner: taskOwner,
      tag,
      clientKey,
      number,
      streams: new Set(),
      isWatched: false,
      tool: undefined,
      alias: undefined,
    };
    this.#owners.set(taskOwner, owned);
    owned.tasks.set(key, task);
    this.#tasks.set(key, task);
    if (owned.tasks.size > MAX_PER_OWNER) this.forget(owned.tasks.values().next().value!);
    if (this.#tasks.size > MAX_TASKS) this.forget(this.#tasks.values().next().value!);
    return task;
  }

  /**
   * Returns the key of a task. A session's own connection has tasks that no other connection knows.
   */
  #key(serverId: string, taskId: string, { key, scope }: TaskClient): string {
    const hasOwn = scope === key && this.#parts.servers.ownerOf(serverId, key) === key;
    return keyOf(serverId, taskId, hasOwn ? key : "");
  }

  #exposed({ serverId, taskId, owner, tag, alias }: Task): string {
    if (alias !== undefined) return alias;
    return joinTaskId({
      prefix: this.#parts.catalog.snapshot.resources.prefixOf(serverId),
      seal: this.#seal({ serverId, taskId, owner, tag }),
      tag,
      taskId,
    });
  }

  #seal({ serverId, taskId, owner, tag }: Pick<Task, "serverId" | "taskId" | "owner" | "tag">): string {
    const subject = ["task", serverId, taskId, owner, ...(tag === "" ? [] : [tag])];
    return this.#parts.sealer.mark(JSON.stringify(subject));
  }
}

/** Returns an id that begins with the mark of the replica that started the task. */
export function taskPlace(exposed: unknown): string | undefined {
  const split = typeof exposed === "string" ? splitTaskId(exposed) : undefined;
  return split && split.tag !== "" ? `${split.tag}.` : undefined;
}

function keyOf(serverId: string, taskId: string, connection: string): string {
  return JSON.stringify([serverId, connection, taskId]);
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
