/**
 * A connection to Redis or Valkey: one server, a set behind Sentinel, or a Redis Cluster.
 *
 * It is set up for a store that may be gone at any time. No command waits for a connection, and
 * every command has a short deadline. After a failure, commands fail at once until there is a
 * connection again.
 */
import { Redis as Client, Cluster } from "ioredis";
import { readRedisAddress } from "../../config/cluster/redis-address.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";

export type Reply = string | number | null | readonly Reply[];

export interface RedisOptions {
  /** See config/cluster/redis-address.ts. */
  readonly url: string;
  /** The time for a command, and for a connection. */
  readonly timeoutMs: number;
  /** Runs when a connection is ready, before any other command. */
  readonly connected: () => void;
  /** Runs once when the connection is lost, or could not be made. */
  readonly failed: (reason: string) => void;
}

interface PendingCommand {
  readonly expires: number;
}

const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 2000;
/** More would only wait for their deadline. */
const MAX_PENDING = 10_000;
const MAX_REASON_LENGTH = 500;

export class Redis {
  readonly #options: RedisOptions;
  readonly #client: Client | Cluster;
  readonly #secrets: readonly string[];
  /** In the order of their deadlines. */
  readonly #pending = new Set<PendingCommand>();
  readonly #sweeper: NodeJS.Timeout;
  #isReady = false;
  #hasFailed = false;
  #isClosed = false;
  /** Why the connection is about to be lost. */
  #reason: string | undefined;

  constructor(options: RedisOptions) {
    this.#options = options;
    const { username, password } = readRedisAddress(options.url);
    this.#secrets = [username, password].filter((part) => part !== undefined);
    this.#client = createClient(options);
    this.#client.on("ready", () => this.#onReady());
    this.#client.on("error", (error: unknown) => {
      this.#reason ??= this.#masked(messageOf(error));
    });
    this.#client.on("close", () => this.#onClose());
    this.#sweeper = setInterval(() => this.#sweep(), Math.max(10, options.timeoutMs / 4)).unref();
    // What fails is told by events.
    this.#client.connect().catch(() => {});
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Rejects at once without a connection, and after the deadline without a reply. */
  async command(name: string, ...parts: readonly (string | number)[]): Promise<Reply> {
    if (!this.#isReady) throw new Error("Redis is not connected");
    if (this.#pending.size >= MAX_PENDING) throw new Error("Redis is too slow");
    const command = { expires: Date.now() + this.#options.timeoutMs };
    this.#pending.add(command);
    try {
      // The protocol of version 2 has no other replies.
      return (await this.#client.call(name, ...parts)) as Reply;
    } finally {
      this.#pending.delete(command);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#isReady = false;
    clearInterval(this.#sweeper);
    this.#client.disconnect();
  }

  #onReady(): void {
    if (this.#isReady || this.#isClosed) return;
    this.#isReady = true;
    this.#hasFailed = false;
    this.#reason = undefined;
    this.#options.connected();
  }

  #onClose(): void {
    this.#isReady = false;
    const reason = this.#reason ?? "it closed the connection";
    this.#reason = undefined;
    if (this.#isClosed || this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.failed(reason);
  }

  /** A connection whose replies come late is not one to wait for. */
  #sweep(): void {
    const [oldest] = this.#pending;
    if (!oldest || oldest.expires >= Date.now()) return;
    // If this process slept, the reply has arrived and is read in this turn.
    setImmediate(() => {
      if (!this.#pending.has(oldest) || !this.#isReady) return;
      this.#isReady = false;
      this.#reason = "it does not answer";
      this.#client.disconnect(true);
    });
  }

  /** A Redis that does not know a command repeats its arguments, or the beginning of them. */
  #masked(reason: string): string {
    // The package asks to report this; the reader has the wrong port.
    if (reason.startsWith("Unknown RESP type")) return "the other side does not speak Redis's protocol";
    const [said = ""] = reason.split(", with args", 1);
    const hidden = this.#secrets.reduce((text, secret) => text.replaceAll(secret, "***"), said);
    return hidden.slice(0, MAX_REASON_LENGTH);
  }
}

function createClient({ url, timeoutMs }: RedisOptions): Client | Cluster {
  const { kind, hosts, isSecure, username, password, database, name } = readRedisAddress(url);
  const retryStrategy = (attempt: number): number =>
    Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
  const shared = {
    username,
    password,
    protocol: 2,
    connectTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
    ...(isSecure && { tls: {} }),
  } as const;
  if (kind === "cluster") {
    return new Cluster(
      hosts.map((one) => ({ ...one })),
      {
        lazyConnect: true,
        enableOfflineQueue: false,
        clusterRetryStrategy: retryStrategy,
        slotsRefreshTimeout: timeoutMs * 2,
        redisOptions: shared,
        ...(isSecure && { dnsLookup: (address, done) => done(null, address) }),
      },
    );
  }
  const [first] = hosts;
  const where =
    kind === "sentinel"
      ? {
          sentinels: hosts.map((one) => ({ ...one })),
          name: name!,
          enableTLSForSentinelMode: isSecure,
          sentinelRetryStrategy: retryStrategy,
        }
      : { host: first!.host, port: first!.port };
  return new Client({ ...shared, ...where, db: database, retryStrategy, lazyConnect: true });
}
