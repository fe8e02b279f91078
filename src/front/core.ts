/** What a front needs of the rest of the gateway. */
import type { Call, Client } from "../protocol/call.ts";
import type { Answer } from "../protocol/json-rpc.ts";
import type { OnLimit } from "../protocol/limit-exceeded.ts";
import type { ChangeKind } from "../protocol/methods.ts";
import type { Continuity } from "../session/continuity.ts";
import type { Session } from "../session/session.ts";
import type { SessionStore } from "../session/store.ts";

export interface Description {
  readonly serverInfo: Readonly<Record<string, unknown>>;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
}

export interface Core {
  /** Answers any request that is about what the servers offer. Never throws. */
  handle(call: Call): Promise<Answer>;
  /** What the gateway offers to this client. */
  describe(client: Client): Description;
  /** A session has begun, whether or not its client ever completes the handshake. */
  opened(session: Session): void;
  /** A session asked for another log level. */
  logLevelChanged(session: Session): void;
  /** A client's roots are others now; servers that it has a connection of its own to are told. */
  rootsChanged(session: Session): void;
  readonly serverInfo: Readonly<Record<string, unknown>>;
  /** How long, and by whom, the answer to this method may be kept. */
  cacheHints(method: string): { readonly ttlMs: number; readonly cacheScope: "public" | "private" };
  /** The input schema of a tool, by any name that a call accepts. */
  inputSchema(tool: string): unknown;
  /** The output schema of a tool, and the protocol version that its server speaks. */
  outputOf(tool: string): { readonly schema: unknown; readonly version: string } | undefined;
  /** Whether a server declared an extension that this method belongs to. */
  routesExtension(method: string): boolean;
  /** Runs for every change of a list; answers how to stop that. */
  onChange(listener: (kinds: readonly ChangeKind[]) => void): () => void;
  /**
   * Subscribes whoever `clientKey` is to a resource; `deliver` gets the raw params of each update.
   */
  subscribe(clientKey: string, uri: string, deliver: (params: string) => void): Promise<Answer>;
  /** Frees whatever is held for `clientKey`. */
  release(clientKey: string): void;
  readonly sessions: SessionStore;
  readonly continuity: Continuity;
  /** A session of an earlier process goes on in this one. */
  resumed(session: Session): void;
  /** How long one call may take in all, questions included. */
  maxCallMs(): number;
  /** As the config says now. */
  readonly limits: Readonly<Record<"bodyBytes" | "unreadBytes" | "sessionIdleMs" | "callsAwaitingInput", number>>;
  /** A limit has struck. */
  readonly onLimit: OnLimit;
}
