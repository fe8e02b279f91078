/**
 * The event stream over all replicas: the events of each, and figures and rows of all together.
 * Each other replica's stream is read, and its newest figures and lists are kept, while a stream of
 * this API is open.
 *
 * A reader that falls behind loses the stream, and reads everything again, as with one gateway.
 */
import type { Principal } from "../../../mcp/protocol/principal.ts";
import type { AdminEvent, Pulse } from "../events.ts";
import type { ApprovalRow } from "../live/approval-schema.ts";
import { adminRoutes } from "../routes.ts";
import type { ServerRow, SessionRow, SubscriptionRow } from "../schema.ts";
import { type List, mergeServer, mergeTotals, type ReplicaAnswer, union } from "./merge.ts";
import type { OtherReplicas } from "./other-replicas.ts";

/** The newest that one replica sent of everything. */
interface Newest {
  readonly replica: string;
  pulse?: Pulse;
  sessions?: List<SessionRow>;
  subscriptions?: List<SubscriptionRow>;
  held?: number;
  readonly servers: Map<string, ServerRow>;
}

/** The lists that a stream of events continues. */
interface Lists {
  readonly listServers: List<ServerRow>;
  readonly listSessions: List<SessionRow>;
  readonly listSubscriptions: List<SubscriptionRow>;
  readonly listApprovals: List<ApprovalRow>;
}

/** Reads a list of one replica. */
type ReadList = (name: keyof Lists) => unknown;

const LOOK_MS = 1000;
const MAX_UNREAD_BYTES = 1024 * 1024;

export class CombinedFeed {
  readonly #others: OtherReplicas;
  readonly #principal: Principal;
  readonly #readOwnList: ReadList;
  readonly #ending = new AbortController();
  /** By replica. That of this replica is first. */
  readonly #newest = new Map<string, Newest>();
  #send: (event: AdminEvent) => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(others: OtherReplicas, principal: Principal, readOwnList: ReadList) {
    this.#others = others;
    this.#principal = principal;
    this.#readOwnList = readOwnList;
  }

  /** `own`: the stream of this replica. The combined stream ends with it. */
  open(own: Response): Response {
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const end = (): void => {
            if (this.#ending.signal.aborted) return;
            this.close();
            controller.close();
          };
          this.#send = ({ type, data }) => {
            if (this.#ending.signal.aborted) return;
            controller.enqueue(encoder.encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`));
            if ((controller.desiredSize ?? 0) <= 0) end();
          };
          const newest = this.#begin(this.#others.self);
          const reader = own.body!.getReader();
          this.#ending.signal.addEventListener("abort", () => void reader.cancel().catch(() => {}));
          void this.#follow(newest, chunksOf(reader))
            .catch(() => {})
            .finally(end);
          // A list that cannot be read comes with its next event.
          void this.#fill(newest, this.#readOwnList).catch(() => {});
          this.#look();
          this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
        },
        cancel: () => this.close(),
      },
      { highWaterMark: MAX_UNREAD_BYTES, size: (chunk) => chunk.byteLength },
    );
    return new Response(body, { headers: own.headers });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#ending.abort();
  }

  /** Follows the replicas that are not followed yet. */
  #look(): void {
    for (const replica of this.#others.names) if (!this.#newest.has(replica)) void this.#join(replica);
  }

  async #join(replica: string): Promise<void> {
    const newest = this.#begin(replica);
    const asked = { method: "GET", principal: this.#principal, signal: this.#ending.signal };
    try {
      const stream = await this.#others.open(replica, { ...asked, path: adminRoutes.streamEvents.path });
      await this.#fill(newest, async (name) => {
        const { status, text } = await this.#others.ask(replica, { ...asked, path: adminRoutes[name].path });
        if (status !== 200) throw new Error(text);
        return JSON.parse(text);
      });
      await this.#follow(newest, stream);
    } catch {
      // The replica has ended, or does not answer. The next look tries again.
    }
    this.#newest.delete(replica);
    this.#sendLists();
    this.#sendHeld();
  }

  /** Reads what a replica had before its stream began. */
  async #fill(newest: Newest, read: ReadList): Promise<void> {
    // Every replica answers with the lists of these routes.
    const list = async <Name extends keyof Lists>(name: Name) => (await read(name)) as Lists[Name];
    const [servers, sessions, subscriptions, approvals] = await Promise.all([
      list("listServers"),
      list("listSessions"),
      list("listSubscriptions"),
      list("listApprovals"),
    ]);
    for (const row of servers.items) if (!newest.servers.has(row.id)) newest.servers.set(row.id, row);
    newest.sessions ??= sessions;
    newest.subscriptions ??= subscriptions;
    newest.held ??= approvals.items.filter(({ state }) => state === "held").length;
    this.#sendLists();
    if (newest.held > 0) this.#sendHeld();
  }

  /** Sends the lists of all replicas, once each replica's own list is known. */
  #sendLists(): void {
    const all = [...this.#newest.values()];
    if (all.every(({ sessions }) => sessions))
      this.#send({ type: "sessions", data: union(this.#known(({ sessions }) => sessions)) });
    if (all.every(({ subscriptions }) => subscriptions))
      this.#send({ type: "subscriptions", data: union(this.#known(({ subscriptions }) => subscriptions)) });
  }

  #sendHeld(): void {
    const counts = this.#known(({ held }) => held);
    this.#send({ type: "approvals", data: { held: counts.reduce((total, { value }) => total + value, 0) } });
  }

  #begin(replica: string): Newest {
    const newest: Newest = { replica, servers: new Map() };
    this.#newest.set(replica, newest);
    return newest;
  }

  async #follow(newest: Newest, stream: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of stream) {
      if (this.#ending.signal.aborted) return;
      text += decoder.decode(chunk, { stream: true });
      const events = text.split("\n\n");
      text = events.pop()!;
      for (const event of events) {
        const [, type, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
        // Every replica writes the events of the schema.
        if (data !== undefined) this.#take(newest, { type, data: JSON.parse(data) } as AdminEvent);
      }
    }
  }

  #take(newest: Newest, event: AdminEvent): void {
    const { replica } = newest;
    const isOwn = replica === this.#others.self;
    if (event.type === "state") {
      newest.pulse = event.data;
      if (isOwn) this.#send({ type: "state", data: this.#pulse() });
    } else if (event.type === "server") {
      const { id, server } = event.data;
      if (server) newest.servers.set(id, server);
      else newest.servers.delete(id);
      const rows = this.#known(({ servers }) => servers.get(id));
      this.#send({ type: "server", data: { id, server: rows.length === 0 ? null : mergeServer(rows) } });
    } else if (event.type === "sessions") {
      newest.sessions = event.data;
      this.#sendLists();
    } else if (event.type === "subscriptions") {
      newest.subscriptions = event.data;
      this.#sendLists();
    } else if (event.type === "approvals") {
      newest.held = event.data.held;
      this.#sendHeld();
    } else if (event.type === "call") this.#send({ type: "call", data: { ...event.data, replica } });
    else if (event.type === "log") this.#send({ type: "log", data: { ...event.data, replica } });
    else if (isOwn) this.#send(event);
  }

  #pulse(): Pulse {
    const pulses = this.#known(({ pulse }) => pulse).map(({ value }) => value);
    const add = (of: (pulse: Pulse) => number): number => pulses.reduce((all, pulse) => all + of(pulse), 0);
    const largestOf = (of: (pulse: Pulse) => number | null): number | null => {
      const known = pulses.map(of).filter((value) => value !== null);
      return known.length === 0 ? null : Math.max(...known);
    };
    return {
      ...pulses[0]!,
      ...mergeTotals(pulses),
      callsPerSecond: add(({ callsPerSecond }) => callsPerSecond),
      errorsPerSecond: add(({ errorsPerSecond }) => errorsPerSecond),
      p50Ms: largestOf(({ p50Ms }) => p50Ms),
      p99Ms: largestOf(({ p99Ms }) => p99Ms),
    };
  }

  /** Returns the newest value of each replica that has one, this replica's first. */
  #known<Value>(of: (newest: Newest) => Value | undefined): ReplicaAnswer<Value>[] {
    return [...this.#newest.values()].flatMap((newest) => {
      const value = of(newest);
      return value === undefined ? [] : [{ replica: newest.replica, value }];
    });
  }
}

async function* chunksOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
}
