/**
 * The connection that clients with a session share, for a server whose first connection serves
 * clients without one. It is opened for the first client that needs it, and supervised like the
 * first.
 *
 * While it is being restored, and if the server does not offer it, these clients use the first
 * connection. So it never makes a server unusable.
 */
import type { Peer, PeerEvents } from "../../../mcp/peers/peer.ts";
import { GoblinError, messageOf } from "../../../mcp/protocol/errors.ts";
import { SharedConnection } from "./shared-connection.ts";

export interface SessionsConnectionOptions {
  readonly connect: (closed: PeerEvents["closed"], signal: AbortSignal) => Promise<Peer>;
  /** The connection is there; `again`: it had been there before. */
  readonly connected: (peer: Peer, again: boolean) => void;
  readonly problem: (message: string) => void;
}

export class SessionsConnection {
  readonly #options: SessionsConnectionOptions;
  #connection: SharedConnection | undefined;
  #isRefused = false;

  constructor(options: SessionsConnectionOptions) {
    this.#options = options;
  }

  get peer(): Peer | undefined {
    return this.#connection?.peer;
  }

  /** Whether nothing is to be waited for: it is open, refused, or waits for its next attempt. */
  get isDecided(): boolean {
    const connection = this.#connection;
    return this.#isRefused || (connection !== undefined && !connection.isConnecting);
  }

  /** Returns the connection, opened if necessary; undefined if there is none for now. */
  async available(): Promise<Peer | undefined> {
    if (this.#isRefused) return undefined;
    this.#connection ??= this.#open();
    return this.#connection.available();
  }

  /** The first connection is a new one, perhaps to another version of the server. */
  renew(first: Peer): void {
    this.#isRefused = false;
    if (!first.sessionsApart) void this.stop();
  }

  async stop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#isRefused = false;
    await connection?.stop("not needed");
  }

  #open(): SharedConnection {
    let count = 0;
    const made = new SharedConnection({
      connect: async (closed, signal) => {
        try {
          return await this.#options.connect(closed, signal);
        } catch (error) {
          if (this.#connection === made && !signal.aborted) this.#failed(error);
          throw error;
        }
      },
      connected: async (peer) => {
        this.#options.connected(peer, count++ > 0);
        return undefined;
      },
      changed: () => {},
      installs: false,
    });
    void made.start();
    return made;
  }

  #failed(error: unknown): void {
    if (error instanceof GoblinError && error.reason === "unoffered") {
      void this.stop();
      this.#isRefused = true;
    } else {
      const why = messageOf(error);
      this.#options.problem(`The connection for clients with a session failed; they use the other one: ${why}`);
    }
  }
}
