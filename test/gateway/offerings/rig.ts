/**
 * Scripted servers behind a gateway, and clients that keep what they hear. Ended by `disposeAll`.
 */
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import { type RawHttp, rawHttp, type Scripted, type ScriptedOptions, startScripted } from "../../fixtures/peers.ts";

// biome-ignore lint/suspicious/noExplicitAny: JSON as it came; tests look into it freely
type Message = any;

export type Backends = Record<string, ScriptedOptions & { entry?: Record<string, unknown> }>;

export interface Rig {
  readonly goblin: RunningGoblin;
  readonly servers: Record<string, Scripted>;
  readonly client: RawHttp;
}

/** Servers by id; `entry` is merged over a server's part of the config. */
export async function startRig(backends: Backends, config: Record<string, unknown> = {}): Promise<Rig> {
  const started = await Promise.all(
    Object.entries(backends).map(async ([id, { entry, ...options }]) => {
      const server = await startScripted({ name: id, ...options });
      return { id, server, entry: { ...server.entry, ...entry } };
    }),
  );
  const mcpServers = Object.fromEntries(started.map(({ id, entry }) => [id, entry]));
  const goblin = await startGoblin({ ...config, mcpServers });
  const client = rawHttp(goblin.url);
  await client.initialize();
  return { goblin, client, servers: Object.fromEntries(started.map(({ id, server }) => [id, server])) };
}

export interface Listener {
  readonly client: RawHttp;
  /** Everything that was not an answer, in the order of its arrival. */
  heard(method?: string): Message[];
  /** The URIs of the updates so far. */
  updates(): string[];
  close(): Promise<void>;
}

/** A session with an open stream for notifications. */
export async function startListener(goblin: RunningGoblin): Promise<Listener> {
  const client = rawHttp(goblin.url);
  await client.initialize();
  const stream = await client.stream({});
  const heard: Listener["heard"] = (method) => stream.messages.filter((m) => !method || m.method === method);
  return {
    client,
    heard,
    updates: () => heard("notifications/resources/updated").map((m) => m.params.uri),
    close: () => stream.close(),
  };
}

/** The result, or the error, of a request. */
export async function asked(client: RawHttp, method: string, params: unknown): Promise<Message> {
  const { message } = await client.call(method, params);
  return message.error ?? message.result;
}

/** How many requests of clients, other than the gateway's own for lists, a server got. */
export async function requestsOf(server: Scripted): Promise<string[]> {
  const own = ["initialize", "logging/setLevel", "ping"];
  const messages = (await server.received()).map(({ message }) => message);
  return messages.flatMap(({ id, method }) =>
    id === undefined || method === undefined || own.includes(method) || method.endsWith("/list") ? [] : [method],
  );
}
