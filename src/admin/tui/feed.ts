/**
 * Keeps the state up to date: opens the event stream, reads every list, rereads changed lists, and
 * reconnects.
 *
 * Invariant: the stream opens before the lists are read, and events that arrive during a read are
 * applied again after it, so no change is lost. A list is never read twice at the same time. After
 * a disconnect everything is read again. Nothing runs after `close`.
 */
import type { AdminEvent, AdminEventType } from "../api/events.ts";
import { adminRoutes } from "../api/routes.ts";
import type { AdminClient } from "./client.ts";
import type { Loaded } from "./state/action.ts";
import type { Store } from "./store.ts";

export interface Feed {
  close(): void;
}

export interface FeedOptions {
  readonly client: AdminClient;
  readonly store: Store;
  /** The first delay before a reconnect; it doubles up to ten times its value. */
  readonly backoffMs?: number;
  /** How often to reread figures that no event carries, while they change. */
  readonly refreshMs?: number;
}

const everything = [
  "gateway",
  "servers",
  "tools",
  "prompts",
  "resources",
  "templates",
  "subscriptions",
  "sessions",
  "calls",
  "approvals",
  "logs",
] as const;

export function startFeed({ client, store, backoffMs = 500, refreshMs = 5000 }: FeedOptions): Feed {
  const closed = new AbortController();
  const reading = new Map<keyof Loaded, { again: boolean; arrived: AdminEvent[] }>();
  let called = false;

  const read = async (name: keyof Loaded, signal: AbortSignal): Promise<void> => {
    const running = reading.get(name);
    if (running !== undefined) {
      running.again = true;
      return;
    }
    const entry = { again: true, arrived: [] as AdminEvent[] };
    reading.set(name, entry);
    try {
      while (entry.again && !signal.aborted) {
        entry.again = false;
        entry.arrived = [];
        const value = await loaders[name](client, signal);
        if (signal.aborted) return;
        store.dispatch({ type: "loaded", lists: { [name]: value } });
        if (entry.arrived.length > 0) store.dispatch({ type: "events", events: entry.arrived });
      }
    } finally {
      reading.delete(name);
    }
  };

  const attempt = async (onUp: () => void): Promise<void> => {
    const ended = new AbortController();
    const signal = AbortSignal.any([closed.signal, ended.signal]);
    const readAll = async (names: readonly (keyof Loaded)[]): Promise<void> => {
      await Promise.all(names.map((name) => read(name, signal)));
    };
    let failure: unknown;
    const guard = (work: Promise<void>): void => {
      work.catch((error: unknown) => {
        failure ??= error;
        ended.abort();
      });
    };
    try {
      await client.stream({
        signal,
        onOpen: () => {
          reading.clear();
          guard(
            readAll(everything).then(() => {
              onUp();
              store.dispatch({ type: "link", link: { status: "up" } });
            }),
          );
        },
        onEvent: (event) => {
          store.push(event);
          const list = listOfEvent[event.type];
          if (list !== undefined) reading.get(list)?.arrived.push(event);
          if (event.type === "call") called = true;
          if (event.type === "approvals") guard(read("approvals", signal));
          if (event.type === "catalog") guard(readAll(changed(event.data.kinds)));
        },
      });
    } catch (error) {
      throw failure ?? error;
    } finally {
      ended.abort();
    }
  };

  const run = async (): Promise<void> => {
    for (let failures = 0; !closed.signal.aborted; ) {
      let reason = "the connection was closed";
      try {
        await attempt(() => {
          failures = 0;
        });
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error);
      }
      if (closed.signal.aborted) return;
      failures += 1;
      const { link, now } = store.state();
      const since = link.status === "away" ? link.since : now;
      store.dispatch({ type: "link", link: { status: "away", since, reason, attempt: failures } });
      await pause(Math.min(backoffMs * 2 ** (failures - 1), backoffMs * 10), closed.signal);
    }
  };

  // No event carries latency and totals per tool and server.
  const refresh = setInterval(() => {
    const { link, panel } = store.state();
    if (!called || link.status !== "up") return;
    called = false;
    const names =
      panel === "tools"
        ? (["tools"] as const)
        : panel === "overview" || panel === "servers"
          ? (["servers"] as const)
          : [];
    for (const name of names) read(name, closed.signal).catch(() => undefined); // the stream reports a disconnect
  }, refreshMs);

  void run();
  return {
    close() {
      clearInterval(refresh);
      closed.abort();
    },
  };
}

/** Events that replace the state of a list; applying one twice changes nothing. */
const listOfEvent: Partial<Record<AdminEventType, keyof Loaded>> = {
  server: "servers",
  subscriptions: "subscriptions",
  sessions: "sessions",
  config: "gateway",
};

type Loader<Name extends keyof Loaded> = (client: AdminClient, signal: AbortSignal) => Promise<Loaded[Name]>;

const loaders: { readonly [Name in keyof Loaded]: Loader<Name> } = {
  gateway: (client, signal) => client.request(adminRoutes.getState, { signal }),
  servers: async (client, signal) => (await client.request(adminRoutes.listServers, { signal })).items,
  tools: async (client, signal) => (await client.request(adminRoutes.listTools, { signal })).items,
  prompts: async (client, signal) => (await client.request(adminRoutes.listPrompts, { signal })).items,
  resources: async (client, signal) => (await client.request(adminRoutes.listResources, { signal })).items,
  templates: async (client, signal) => (await client.request(adminRoutes.listTemplates, { signal })).items,
  subscriptions: async (client, signal) => (await client.request(adminRoutes.listSubscriptions, { signal })).items,
  sessions: async (client, signal) => (await client.request(adminRoutes.listSessions, { signal })).items,
  calls: async (client, signal) => (await client.request(adminRoutes.listCalls, { signal })).items,
  approvals: readHeld,
  logs: async (client, signal) =>
    (await client.request(adminRoutes.listLogs, { signal, query: { limit: "1000" } })).items,
};

/** The most whose arguments are read in full at once. */
const MAX_FULL_ARGUMENTS = 50;

/** A list cuts long arguments: a person who decides must see all of them. */
async function readHeld(client: AdminClient, signal: AbortSignal): Promise<Loaded["approvals"]> {
  const { items } = await client.request(adminRoutes.listApprovals, { signal });
  const held = items.filter(({ state }) => state === "held");
  return Promise.all(
    held.map((row, place) =>
      row.isCut && place < MAX_FULL_ARGUMENTS
        ? client.request(adminRoutes.getApproval, { params: { id: row.id }, signal }).catch(() => row)
        : row,
    ),
  );
}

function changed(kinds: readonly ("tools" | "prompts" | "resources")[]): (keyof Loaded)[] {
  const lists: (keyof Loaded)[] = kinds.flatMap((kind) => (kind === "resources" ? ["resources", "templates"] : [kind]));
  return [...lists, "servers"];
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
