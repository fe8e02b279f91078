/** What a front needs of the rest of the gateway. */
import type { Call, Client } from "../model/call.ts";
import type { Answer } from "../model/json-rpc.ts";
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
  /** A session has finished its handshake. */
  opened(session: Session): void;
  /** A session asked for another log level. */
  logLevelChanged(): void;
  /** A client's roots are others now; servers that it has a connection of its own to are told. */
  rootsChanged(session: Session): void;
  readonly sessions: SessionStore;
  readonly limits: { readonly bodyBytes: number };
}
