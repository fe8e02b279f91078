/**
 * Whose task it is that a server runs, so that what the server says of it reaches that client and
 * nobody else.
 *
 * Bounded: of too many tasks the oldest are forgotten. Nothing is lost by that: a client may always
 * ask for its task (`tasks/get`), and has to, since servers need not say anything.
 */
import { notificationText } from "../protocol/json-rpc.ts";
import { exposeTaskIds } from "../protocol/task-ids.ts";

export interface TaskOptions {
  /** A client that can be told something at any time; others have to ask. */
  readonly listener: (clientKey: string) => { notify(text: string): void } | undefined;
  /** What the server's ids begin with for clients. */
  readonly prefixOf: (serverId: string) => string;
}

const MAX_TASKS = 10_000;
const MAX_EARLY = 100;

export class Tasks {
  readonly #options: TaskOptions;
  readonly #owners = new Map<string, string>();
  /** What was said of tasks before the answer that began them was seen. */
  readonly #early = new Map<string, string[]>();

  constructor(options: TaskOptions) {
    this.#options = options;
  }

  started(serverId: string, taskId: string, clientKey: string): void {
    const key = keyOf(serverId, taskId);
    if (!this.#options.listener(clientKey)) return void this.#early.delete(key);
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

  statusChanged(serverId: string, taskId: string, params: string): void {
    const key = keyOf(serverId, taskId);
    const owner = this.#owners.get(key);
    if (owner !== undefined) return this.#tell(owner, serverId, params);
    this.#early.set(key, [...(this.#early.get(key) ?? []), params].slice(-MAX_EARLY));
    trim(this.#early, MAX_EARLY);
  }

  #tell(clientKey: string, serverId: string, params: string): void {
    const exposed = exposeTaskIds(params, this.#options.prefixOf(serverId));
    this.#options.listener(clientKey)?.notify(notificationText("notifications/tasks/status", exposed));
  }

  dropClient(clientKey: string): void {
    for (const [key, owner] of this.#owners) if (owner === clientKey) this.#owners.delete(key);
  }

  dropServer(serverId: string): void {
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
