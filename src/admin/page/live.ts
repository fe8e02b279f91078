/**
 * What the page knows of the gateway, kept true by the event stream.
 *
 * Invariant: the stream is opened first, then every list is read once, then events are applied; so
 * nothing is missed. After a break the page connects again by itself and reads everything anew.
 */
import { useEffect, useReducer } from "preact/hooks";
import type { Pulse } from "../api/events.ts";
import type { ApprovalRow } from "../api/live/approval-schema.ts";
import type {
  CallRow,
  GatewayState,
  LogEntry,
  Moment,
  OwnToolRow,
  PromptRow,
  ResourceRow,
  ServerRow,
  SessionRow,
  SubscriptionRow,
  TemplateRow,
  ToolRow,
} from "../api/schema.ts";
import { ApiProblem, follow, list, type PageEvent, request } from "./api.ts";

export type LiveStatus = "connecting" | "live" | "lost" | "locked";

export interface Live {
  connection: LiveStatus;
  /** Why there is no connection, in words. */
  problem: string;
  state: GatewayState | undefined;
  /** The last two minutes, oldest first. */
  seconds: readonly Moment[];
  servers: readonly ServerRow[] | undefined;
  tools: readonly ToolRow[] | undefined;
  /** The gateway's own. */
  ownTools: readonly OwnToolRow[] | undefined;
  prompts: readonly PromptRow[] | undefined;
  resources: readonly ResourceRow[] | undefined;
  templates: readonly TemplateRow[] | undefined;
  calls: readonly CallRow[] | undefined;
  sessions: readonly SessionRow[] | undefined;
  subscriptions: readonly SubscriptionRow[] | undefined;
  logs: readonly LogEntry[] | undefined;
  approvals: readonly ApprovalRow[] | undefined;
  /** Counts the changes of what is compared with the lock file. */
  lockChanges: number;
  /** How often the config was read again since the page was opened. */
  reloads: number;
}

const SECONDS = 120;
/** The servers' figures are read again so often, while there are calls. */
const SERVERS_MS = 2000;
const CALLS = 1000;
const LINES = 2000;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 8000;

const live: Live = {
  connection: "connecting",
  problem: "",
  state: undefined,
  seconds: [],
  servers: undefined,
  tools: undefined,
  ownTools: undefined,
  prompts: undefined,
  resources: undefined,
  templates: undefined,
  calls: undefined,
  sessions: undefined,
  subscriptions: undefined,
  logs: undefined,
  approvals: undefined,
  lockChanges: 0,
  reloads: 0,
};
const listeners = new Set<() => void>();
let _frame = 0;

/** Returns what is known, and draws the component again when something changed. */
export function useLive(): Readonly<Live> {
  const [, draw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const listener = (): void => draw(0);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return live;
}

function change(part: Partial<Live>): void {
  Object.assign(live, part);
  // Many events come at once: one drawing for all of them.
  _frame ||= requestAnimationFrame(() => {
    _frame = 0;
    for (const listener of [...listeners]) listener();
  });
}

/** Connects, and stays connected, until the signal. */
export async function connect(signal: AbortSignal): Promise<void> {
  let wait = FIRST_WAIT_MS;
  while (!signal.aborted) {
    try {
      await follow("/api/events", {
        signal,
        onOpen: () => {
          wait = FIRST_WAIT_MS;
          void readAll();
        },
        onEvent: apply,
      });
      change({ connection: "lost", problem: "The gateway closed the connection" });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiProblem && (error.status === 401 || error.status === 403)) {
        change({ connection: "locked", problem: error.message });
        return;
      }
      change({ connection: "lost", problem: error instanceof Error ? error.message : String(error) });
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(wait * 2, MAX_WAIT_MS);
  }
}

async function readAll(): Promise<void> {
  try {
    const [state, past, servers, calls, sessions, subscriptions, logs] = await Promise.all([
      request<GatewayState>("/api/state"),
      list<Moment>("/api/history"),
      list<ServerRow>("/api/servers"),
      list<CallRow>("/api/calls"),
      list<SessionRow>("/api/sessions"),
      list<SubscriptionRow>("/api/subscriptions"),
      list<LogEntry>("/api/logs"),
      readCatalog(["tools", "prompts", "resources"]),
      readApprovals(),
    ]);
    const seconds = [...past, ...since(past, live.seconds)].slice(-SECONDS);
    change({ connection: "live", problem: "", state, seconds, servers, calls, sessions, subscriptions, logs });
  } catch (error) {
    change({ problem: error instanceof Error ? error.message : String(error) });
  }
}

/** Returns the seconds of `more` that are later than all of `known`. */
function since(known: readonly Moment[], more: readonly Moment[]): Moment[] {
  const last = known.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
  return more.filter(({ time }) => time > last);
}

let serversReadAt = 0;

/** Events tell of states alone: calls, failures and latencies of servers are read. */
async function readServers(): Promise<void> {
  if (document.hidden || Date.now() - serversReadAt < SERVERS_MS) return;
  serversReadAt = Date.now();
  const servers = await list<ServerRow>("/api/servers").catch(() => undefined);
  if (servers) change({ servers });
}

/** Reads the figures of one tool again: no event tells them. */
export async function readTool(name: string): Promise<void> {
  const [tool] = await list<ToolRow>(`/api/tools?name=${encodeURIComponent(name)}`).catch(() => []);
  if (tool && live.tools) change({ tools: live.tools.map((row) => (row.name === name ? tool : row)) });
}

async function readApprovals(): Promise<void> {
  change({ approvals: await list<ApprovalRow>("/api/approvals") });
}

async function readCatalog(kinds: readonly string[]): Promise<void> {
  const wanted = new Set(kinds);
  const [tools, ownTools, prompts, resources, templates] = await Promise.all([
    wanted.has("tools") ? list<ToolRow>("/api/tools") : live.tools,
    wanted.has("tools") ? list<OwnToolRow>("/api/tools/own") : live.ownTools,
    wanted.has("prompts") ? list<PromptRow>("/api/prompts") : live.prompts,
    wanted.has("resources") ? list<ResourceRow>("/api/resources") : live.resources,
    wanted.has("resources") ? list<TemplateRow>("/api/templates") : live.templates,
  ]);
  change({ tools, ownTools, prompts, resources, templates });
}

function apply({ type, data }: PageEvent): void {
  switch (type) {
    case "state": {
      const pulse = data as Pulse;
      const { uptimeMs, counts, calls, tokens, logLevel } = pulse;
      const state = live.state && { ...live.state, uptimeMs, counts, calls, tokens, logLevel };
      if (pulse.calls.total !== live.state?.calls.total) void readServers();
      change({ state, seconds: [...live.seconds, ...since(live.seconds, [pulse])].slice(-SECONDS) });
      break;
    }
    case "server": {
      const { id, server } = data as { id: string; server: ServerRow | null };
      const others = live.servers ?? [];
      const known = others.some((row) => row.id === id);
      const servers = server
        ? known
          ? others.map((row) => (row.id === id ? server : row))
          : [...others, server]
        : others.filter((row) => row.id !== id);
      change({ servers });
      break;
    }
    case "catalog":
      void readCatalog((data as { kinds: string[] }).kinds).catch(() => {});
      break;
    case "call":
      change({ calls: [...(live.calls ?? []), data as CallRow].slice(-CALLS) });
      break;
    case "log":
      change({ logs: [...(live.logs ?? []), data as LogEntry].slice(-LINES) });
      break;
    case "sessions":
      change({ sessions: (data as { items: SessionRow[] }).items });
      break;
    case "subscriptions":
      change({ subscriptions: (data as { items: SubscriptionRow[] }).items });
      break;
    case "approvals":
      void readApprovals().catch(() => {});
      break;
    case "lock":
      change({
        state: live.state && { ...live.state, lock: data as GatewayState["lock"] },
        lockChanges: live.lockChanges + 1,
      });
      break;
    case "config":
      change({ reloads: live.reloads + 1 });
      void request<GatewayState>("/api/state").then(
        (state) => change({ state }),
        () => {},
      );
      break;
  }
}
