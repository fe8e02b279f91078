/**
 * A client's request, and the client that sent it.
 *
 * A front makes one Call for each request. What was asked never changes. A Call changes only where
 * its front, or the next round of the request, must see it too: it can be cancelled once, wait for
 * a person, become a task, join a trace, and have its notifications kept or heard. All other state
 * is the Flight's, which fronts never see.
 *
 * Progress, log messages and questions to the client go through this object, so nothing is looked
 * up by an id that two clients may share.
 */
import type { Span } from "../../lib/json/json-text.ts";
import type { Answer, Params } from "./json-rpc.ts";
import type { LogLevel } from "./log-levels.ts";
import type { Principal, Viewer, Visibility } from "./principal.ts";

/** The account of the client on stdin and stdout. */
export const STDIO_ACCOUNT = "stdio";

/**
 * The client. One object for each session; for a client without a session, one for each request.
 */
export interface Client extends Viewer {
  /** The same for all requests of one session, and unique to it. */
  readonly key: string;
  /** Whether it has a session, so that more requests of the same key will come. */
  readonly hasSession: boolean;
  /**
   * The key of the client's own connections: the session's key, or a party with its capabilities.
   */
  readonly scope: string;
  /**
   * Identifies one client: equal parties are certainly the same client. A session is one party, and
   * so is a channel that only one client can write to. Several clients may share a token, so each
   * request with only a token is its own party.
   */
  readonly party: string;
  /**
   * The key that shares of common limits are counted under: the principal; without one, the remote
   * address or the channel. It never depends on what a client says about itself.
   */
  readonly account: string;
  /** The key that per-client limits are counted under: the session's, or else the account. */
  readonly meter: string;
  /** The authenticated principal; the empty string if no authentication is required. */
  readonly principal: string;
  /** The principal as the latest request showed it. */
  readonly who: Principal;
  /** The endpoint that it uses; see `Place`. */
  readonly endpoint: string;
  /** What it may see. Undefined: everything. */
  readonly visibility: Visibility | undefined;
  /** The owner of the tasks that its calls start. The empty string: anyone who has a task's id. */
  readonly taskOwner: string;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly info: Readonly<Record<string, unknown>>;
  /** Asks the client a server's question (sampling, elicitation, roots). `params` is raw JSON. */
  ask(method: string, params: string, about: About): Promise<Answer>;
  /** The minimum log level that this client asked for; undefined if it set none. */
  readonly logLevel: LogLevel | "off" | undefined;
}

/** The context of a server's question. */
export interface About {
  /** The call that the question belongs to; undefined: it belongs to the client in general. */
  readonly call: Call | undefined;
  /**
   * Other calls of the same client that the question may belong to instead. It is withdrawn when
   * all of them and `call` were cancelled.
   */
  readonly others?: readonly Call[] | undefined;
  /**
   * Aborts when the server withdraws the question. The signal's reason is the server's own text.
   */
  readonly signal?: AbortSignal | undefined;
}

/** What became of the links that a client was asked to open for the request that it repeats now. */
export type LinkOutcome = "opened" | "refused";

/** Sees what happens with a call. */
export interface Witness {
  /** A notification that belongs to the call was sent to its client. */
  emitted(notification: string): void;
}

/** Why a call was cancelled before its answer. */
export type CancelReason = "client" | "timeout" | "shutdown";

/** What a client that takes tasks is told of a call that waits for a person. */
export interface HeldNotice {
  /** The id of the question. */
  readonly approval: string;
  readonly message: string;
}

/** The task that a call became, because it had to wait for a person. */
export interface CallTask {
  /** As the client knows it. */
  readonly id: string;
  /** The call goes on: a person has allowed it. */
  goesOn(): void;
  /** The client is asked something, until the returned function is called. */
  asks(): () => void;
}

export interface CallOptions {
  /** The id that the client gave its request. Two clients may use the same. */
  readonly id?: string | number | undefined;
  readonly method: string;
  readonly params: Params;
  /** The raw JSON of the params. */
  readonly text: string;
  /** Where the value of their one `name` is, if that is known. */
  readonly nameAt?: Span | undefined;
  readonly client: Client;
  /** Sends a notification that belongs to this request to its client. */
  readonly emit: (notification: string) => void;
  /** Trace headers of the request, forwarded to HTTP servers. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
  readonly links?: LinkOutcome | undefined;
}

const MAX_EMITTED = 100;
const MAX_EMITTED_LENGTH = 4096;

export class Call {
  /** For traces alone; undefined: nobody gave it one. */
  readonly id: string | number | undefined;
  readonly method: string;
  readonly params: Params;
  readonly text: string;
  readonly nameAt: Span | undefined;
  readonly client: Client;
  /** Who sent this request. A later request of the same client may come with another token. */
  readonly who: Principal;
  /** Undefined: it was asked to open none. */
  readonly links: LinkOutcome | undefined;
  /**
   * Trace headers for HTTP servers. Where the gateway traces, they name its own span, so that the
   * next round of the request continues the trace.
   */
  trace: Readonly<Record<string, string>> | undefined;
  /** How long it waited for a person's approval. No clock counts that. */
  heldMs = 0;
  /** Present if the client takes a task for a call that waits: it makes the call one. */
  whenHeld: ((held: HeldNotice) => void) | undefined;
  /** The task that it became. */
  task: CallTask | undefined;
  /** Set if the call's notifications are looked at after it ended. */
  keepsEmitted = false;
  /** One is enough: the recorder's. */
  witness: Witness | undefined;
  readonly #emit: (notification: string) => void;
  #emitted: string[] | undefined;
  /** A short id for logs and error messages. */
  readonly requestId: string;
  #cancelled: CancelReason | undefined;
  #cancelWords: string | undefined;
  #listeners: ((reason: CancelReason) => void)[] | undefined;

  constructor(options: CallOptions) {
    this.id = options.id;
    this.method = options.method;
    this.params = options.params;
    this.text = options.text;
    this.nameAt = options.nameAt;
    this.client = options.client;
    this.who = options.client.who;
    this.#emit = options.emit;
    this.trace = options.trace;
    this.links = options.links;
    this.requestId = nextRequestId();
  }

  /** Sends a notification that belongs to this request to its client. */
  emit(notification: string): void {
    if (this.keepsEmitted) {
      this.#emitted ??= [];
      if (this.#emitted.length < MAX_EMITTED && notification.length <= MAX_EMITTED_LENGTH)
        this.#emitted.push(notification);
    }
    this.witness?.emitted(notification);
    this.#emit(notification);
  }

  /** The first notifications that were sent, if they are kept; long ones are left out. */
  get emitted(): readonly string[] | undefined {
    return this.#emitted;
  }

  get cancelled(): CancelReason | undefined {
    return this.#cancelled;
  }

  /** The client's own reason for cancelling, if it gave one. */
  get cancelWords(): string | undefined {
    return this.#cancelWords;
  }

  get progressToken(): string | number | undefined {
    const meta = this.params["_meta"];
    if (typeof meta !== "object" || meta === null) return undefined;
    const token = (meta as Record<string, unknown>)["progressToken"];
    return typeof token === "string" || typeof token === "number" ? token : undefined;
  }

  onCancel(listener: (reason: CancelReason) => void): void {
    if (this.#cancelled) listener(this.#cancelled);
    else if (this.#listeners) this.#listeners.push(listener);
    else this.#listeners = [listener];
  }

  cancel(reason: CancelReason, words?: string): void {
    if (this.#cancelled) return;
    this.#cancelled = reason;
    this.#cancelWords = words;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (listeners) for (const listener of listeners) listener(reason);
  }

  /** Returns the same request with other params, for a tool that is called through another one. */
  derive(options: Pick<CallOptions, "method" | "params" | "text" | "links">): Call {
    const call = new Call({
      links: this.links,
      ...options,
      client: this.client,
      emit: (notification) => this.emit(notification),
      ...(this.trace && { trace: this.trace }),
    });
    this.onCancel((reason) => call.cancel(reason, this.#cancelWords));
    call.task = this.task;
    if (this.whenHeld) {
      call.whenHeld = (held) => {
        this.whenHeld?.(held);
        call.task = this.task;
      };
    }
    return call;
  }
}

const processPart = Math.floor(Math.random() * 36 ** 4)
  .toString(36)
  .padStart(4, "0");
let counter = 0;

function nextRequestId(): string {
  counter = (counter + 1) % Number.MAX_SAFE_INTEGER;
  return `${processPart}-${counter.toString(36)}`;
}
