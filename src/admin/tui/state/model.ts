/**
 * The dashboard's state as one immutable value.
 *
 * No I/O in this folder, so that it can be tested without a terminal. `reduce.ts`
 * maps a state and an action to a state; `select.ts` maps a state to its visible part. Invariant:
 * arrays are replaced, never changed in place, because selectors cache by identity.
 */

import type { OwnLogLevel } from "../../../mcp/protocol/log-levels.ts";
import type { ApprovalRow } from "../../api/live/approval-schema.ts";
import type { CallDetails, ServerDetails } from "../../api/live/schema.ts";
import type { LockedServerRow } from "../../api/lock/schema.ts";
import type {
  CallRow,
  GatewayState,
  LogEntry,
  PromptRow,
  ResourceRow,
  ServerRow,
  SessionRow,
  SubscriptionRow,
  TemplateRow,
  ToolRow,
} from "../../api/schema.ts";
import type { CallForm } from "./call-form.ts";
import type { Viewer } from "./stage.ts";
import type { Theme } from "./theme.ts";

export const panels = ["overview", "servers", "tools", "prompts", "resources", "logs", "calls"] as const;
export type Panel = (typeof panels)[number];

/** The lists that have a cursor; the Resources panel has two. */
export type ListName = "servers" | "tools" | "prompts" | "resources" | "templates" | "logs" | "calls";

/** The connection to the gateway. */
export type FeedStatus =
  | { readonly status: "connecting" }
  | { readonly status: "up" }
  | { readonly status: "away"; readonly since: number; readonly reason: string; readonly attempt: number };

export interface Cursor {
  readonly index: number;
  /** The selected item's key: a list that changes keeps its selection, not its row number. */
  readonly key: string | undefined;
}

export interface Sort {
  /** The column's title. */
  readonly column: string;
  readonly descending: boolean;
}

export type PickerKind = "server" | "mime" | "level" | "sort";

/** An action on a server that needs confirmation. */
interface Pending {
  readonly verb: "restart" | "enable" | "disable";
  readonly serverId: string;
}

/** A server that is not as it was approved, or a new version of it that has not taken over. */
export interface LockItem extends Pick<LockedServerRow, "id" | "source" | "approved" | "current" | "drifts"> {
  readonly state: LockedServerRow["state"] | "upgrade";
  /** Why a new version has not taken over. */
  readonly reason?: string;
}

export type Mode =
  | { readonly name: "browse" }
  | { readonly name: "search" }
  | { readonly name: "help"; readonly top: number }
  | { readonly name: "picker"; readonly kind: PickerKind; readonly index: number }
  | { readonly name: "confirm"; readonly pending: Pending }
  | { readonly name: "call"; readonly form: CallForm }
  /** A kept call in full. */
  | { readonly name: "view"; readonly title: string; readonly viewer: Viewer }
  | { readonly name: "palette"; readonly query: string; readonly index: number }
  /** A call that waits for a person; `top`: the first line of it that is shown. */
  | { readonly name: "approval"; readonly id: string; readonly top: number }
  /** A server that is not as it was approved; the others with it. `top`: as above. */
  | {
      readonly name: "lock";
      readonly servers: readonly LockItem[];
      readonly index: number;
      readonly top: number;
    }
  /** The terminal itself shows a picture until the next key. */
  | { readonly name: "image"; readonly back: Mode };

export const browse: Mode = { name: "browse" };

/** What was fetched about the selected server or call. */
export interface About {
  /** The list and the item's key. */
  readonly key: string;
  /** Of which state of the item. */
  readonly version: string;
  readonly server?: ServerDetails;
  readonly call?: CallDetails;
  readonly error?: string;
}

/** A resource that the dashboard subscribed to. */
export interface Watched {
  readonly status: "opening" | "open";
  readonly updates: number;
  /** When the last update came. */
  readonly last: number | undefined;
}

export interface Notice {
  readonly text: string;
  readonly tone: "good" | "bad" | "plain";
  readonly until: number;
}

export interface LogRow extends LogEntry {
  /** Counts up from the dashboard's start; log lines have no other identity. */
  readonly number: number;
}

export interface Series {
  readonly calls: readonly number[];
  readonly latency: readonly (number | null)[];
  readonly errors: readonly number[];
}

/** The gateway's lists, as the API answers them. */
export interface Lists {
  readonly servers: readonly ServerRow[];
  readonly tools: readonly ToolRow[];
  readonly prompts: readonly PromptRow[];
  readonly resources: readonly ResourceRow[];
  readonly templates: readonly TemplateRow[];
  readonly subscriptions: readonly SubscriptionRow[];
  readonly sessions: readonly SessionRow[];
  readonly calls: readonly CallRow[];
  /** Calls that wait for a person. */
  readonly approvals: readonly ApprovalRow[];
}

export interface State extends Lists {
  readonly now: number;
  readonly size: { readonly columns: number; readonly rows: number };
  readonly url: string;
  readonly link: FeedStatus;
  readonly gateway: GatewayState | undefined;
  readonly series: Series;
  readonly logs: readonly LogRow[];
  /** The number of the next log line. */
  readonly nextLog: number;
  readonly panel: Panel;
  readonly inTemplates: boolean;
  /** The lists that have been read at least once. */
  readonly known: ReadonlySet<string>;
  readonly sorts: Readonly<Partial<Record<ListName, Sort>>>;
  readonly cursors: Readonly<Record<ListName, Cursor>>;
  readonly queries: Readonly<Record<Panel, string>>;
  readonly serverFilter: string | undefined;
  readonly mimeFilter: string | undefined;
  readonly levelFilter: OwnLogLevel;
  readonly follow: boolean;
  readonly details: "closed" | "open" | "focused";
  readonly detailsTop: number;
  readonly about: About | undefined;
  /** By URI. */
  readonly watched: Readonly<Record<string, Watched>>;
  readonly mouse: boolean;
  readonly theme: Theme;
  readonly mode: Mode;
  readonly notice: Notice | undefined;
}

export const logCapacity = 5000;
export const callCapacity = 1000;
export const seriesCapacity = 240;

const atTop: Cursor = { index: 0, key: undefined };

export interface Beginning {
  readonly url: string;
  readonly now: number;
  readonly size: State["size"];
  readonly theme?: Theme;
}

export function initialState(options: Beginning): State {
  return {
    now: options.now,
    size: options.size,
    url: options.url,
    link: { status: "connecting" },
    gateway: undefined,
    series: { calls: [], latency: [], errors: [] },
    servers: [],
    tools: [],
    prompts: [],
    resources: [],
    templates: [],
    subscriptions: [],
    sessions: [],
    calls: [],
    approvals: [],
    logs: [],
    nextLog: 0,
    panel: "overview",
    inTemplates: false,
    known: new Set(),
    sorts: {},
    cursors: {
      servers: atTop,
      tools: atTop,
      prompts: atTop,
      resources: atTop,
      templates: atTop,
      logs: atTop,
      calls: atTop,
    },
    queries: { overview: "", servers: "", tools: "", prompts: "", resources: "", logs: "", calls: "" },
    serverFilter: undefined,
    mimeFilter: undefined,
    levelFilter: "trace",
    follow: true,
    details: "closed",
    detailsTop: 0,
    about: undefined,
    watched: {},
    mouse: true,
    theme: options.theme ?? "dark",
    mode: browse,
    notice: undefined,
  };
}
