/**
 * The event stream of a gateway with workers: what happens at any of them, and figures and rows of
 * all. Each worker's own stream is read, and its last word on everything is kept while a stream of
 * the API is open.
 *
 * A reader that falls behind loses the stream, and reads everything again, like at one gateway.
 */
import type { Principal } from "../../../mcp/protocol/principal.ts";
import type { AdminEvent, Pulse } from "../events.ts";
import type { ServerRow, SessionRow, SubscriptionRow } from "../schema.ts";
import { type List, mergeServer, mergeTotals, union, type WorkerValue } from "./merge.ts";
import type { Siblings } from "./siblings.ts";

/** What one worker said last. */
interface Last {
  readonly worker: number;
  pulse?: Pulse;
  sessions?: List<SessionRow>;
  subscriptions?: List<SubscriptionRow>;
  held?: number;
  readonly servers: Map<string, ServerRow>;
}

const FIRST = 1;
const LOOK_MS = 1000;
const MAX_UNREAD = 1024 * 1024;
const LISTS = ["servers", "sessions", "subscriptions"] as const;

/** Returns a list of one worker as JSON. */
type ReadList = (name: (typeof LISTS)[number]) => Promise<string>;

export class WholeFeed {
  readonly #siblings: Siblings;
  readonly #principal: Principal;
  readonly #ownList: ReadList;
  readonly #ending = new AbortController();
  readonly #last = new Map<string, Last>();
  #send: (event: AdminEvent) => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  /** `ownList`: reads a list of the first worker. */
  constructor(siblings: Siblings, principal: Principal, ownList: ReadList) {
    this.#siblings = siblings;
    this.#principal = principal;
    this.#ownList = ownList;
  }

  /** `own`: the stream of the first worker. */
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
          const first = this.#begin("", FIRST);
          void this.#follow(first, own.body!).finally(end);
          // Its stream tells what is missing sooner or later.
          void this.#fill(first, this.#ownList).catch(() => {});
          this.#look();
          this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
        },
        cancel: () => this.close(),
      },
      { highWaterMark: MAX_UNREAD, size: (chunk) => chunk.byteLength },
    );
    return new Response(body, { headers: own.headers });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#ending.abort();
  }

  /** Follows workers that have begun to serve. */
  #look(): void {
    for (const { id, number } of this.#siblings.others) if (!this.#last.has(id)) void this.#join(id, number);
  }

  async #join(id: string, worker: number): Promise<void> {
    const last = this.#begin(id, worker);
    const asked = { method: "GET", principal: this.#principal, signal: this.#ending.signal };
    try {
      const stream = await this.#siblings.stream(id, { ...asked, path: "/api/events" });
      await this.#fill(last, async (name) => (await this.#siblings.one(id, { ...asked, path: `/api/${name}` })).text);
      await this.#follow(last, stream);
    } catch {
      // It has ended, or says nothing. The next look tries again.
    }
    this.#last.delete(id);
    this.#tellLists();
  }

  /** Reads what a worker had before its stream began. */
  async #fill(last: Last, read: ReadList): Promise<void> {
    const [servers, sessions, subscriptions] = await Promise.all(LISTS.map(read));
    for (const row of (JSON.parse(servers!) as List<ServerRow>).items) last.servers.set(row.id, row);
    last.sessions ??= JSON.parse(sessions!) as List<SessionRow>;
    last.subscriptions ??= JSON.parse(subscriptions!) as List<SubscriptionRow>;
    this.#tellLists();
  }

  /** Tells the lists of all, as soon as each worker has told its own. */
  #tellLists(): void {
    const all = [...this.#last.values()];
    if (all.every(({ sessions }) => sessions))
      this.#send({ type: "sessions", data: mutable(union(this.#said(({ sessions }) => sessions))) });
    if (all.every(({ subscriptions }) => subscriptions))
      this.#send({ type: "subscriptions", data: mutable(union(this.#said(({ subscriptions }) => subscriptions))) });
  }

  #begin(id: string, worker: number): Last {
    const last: Last = { worker, servers: new Map() };
    this.#last.set(id, last);
    return last;
  }

  async #follow(last: Last, stream: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of stream) {
      if (this.#ending.signal.aborted) return;
      text += decoder.decode(chunk, { stream: true });
      const events = text.split("\n\n");
      text = events.pop()!;
      for (const event of events) {
        const [, type, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
        // Each worker writes what the schema says.
        if (data !== undefined) this.#take(last, { type, data: JSON.parse(data) } as AdminEvent);
      }
    }
  }

  #take(last: Last, event: AdminEvent): void {
    const isFirst = last.worker === FIRST;
    if (event.type === "state") {
      last.pulse = event.data;
      if (isFirst) this.#send({ type: "state", data: this.#pulse() });
    } else if (event.type === "server") {
      const { id, server } = event.data;
      if (server) last.servers.set(id, server);
      else last.servers.delete(id);
      this.#send({ type: "server", data: { id, server: this.#server(id) } });
    } else if (event.type === "sessions") {
      last.sessions = event.data;
      this.#tellLists();
    } else if (event.type === "subscriptions") {
      last.subscriptions = event.data;
      this.#tellLists();
    } else if (event.type === "approvals") {
      last.held = event.data.held;
      this.#send({
        type: "approvals",
        data: { held: this.#said(({ held }) => held).reduce((all, { value }) => all + value, 0) },
      });
    } else if (event.type === "call" || event.type === "log" || isFirst) this.#send(event);
  }

  #pulse(): Pulse {
    const pulses = this.#said(({ pulse }) => pulse).map(({ value }) => value);
    const add = (of: (pulse: Pulse) => number): number => pulses.reduce((all, pulse) => all + of(pulse), 0);
    const most = (of: (pulse: Pulse) => number | null): number | null => {
      const known = pulses.map(of).filter((value) => value !== null);
      return known.length === 0 ? null : Math.max(...known);
    };
    return {
      ...pulses[0]!,
      ...mergeTotals(pulses),
      callsPerSecond: add(({ callsPerSecond }) => callsPerSecond),
      errorsPerSecond: add(({ errorsPerSecond }) => errorsPerSecond),
      p50Ms: most(({ p50Ms }) => p50Ms),
      p99Ms: most(({ p99Ms }) => p99Ms),
    };
  }

  #server(id: string): ServerRow | null {
    const said = this.#said(({ servers }) => servers.get(id));
    return said.length === 0 ? null : mergeServer(said);
  }

  /** What all workers said last of something, the first one first. */
  #said<Value>(of: (last: Last) => Value | undefined): WorkerValue<Value>[] {
    const all = [...this.#last.values()].sort((one, other) => one.worker - other.worker);
    return all.flatMap((last) => {
      const value = of(last);
      return value === undefined ? [] : [{ worker: last.worker, value }];
    });
  }
}

function mutable<Item>({ items, total }: List<Item>): { items: Item[]; total: number } {
  return { items: [...items], total };
}
