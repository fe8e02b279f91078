/**
 * What a client asked, and who asked it.
 *
 * A front makes one Call for each request. Nothing of it ever changes, except that it can be
 * cancelled, once. Progress, log messages and questions back to the client go through this object,
 * so nothing has to be looked up by an id that two clients may share. What the gateway does about
 * a Call is its Flight.
 */
import type { Answer, Params } from "./json-rpc.ts";

export type LogLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency";

/** Who asks. One object for each session; for a client without sessions, one for each request. */
export interface Client {
  /** Equal for all requests of one session, and for no other. */
  readonly key: string;
  /**
   * Connections of one client's own are kept under this: the key of a session, or a party with its
   * capabilities.
   */
  readonly scope: string;
  /**
   * Equal parties are surely one client. A session is one; so is a channel that only one client can
   * write to. Where only a token is known, which several clients may have, each request is a party
   * of its own.
   */
  readonly party: string;
  /**
   * What limits on one client are counted under. Whoever has no session is known by its token and
   * its own name for itself.
   */
  readonly account: string;
  /** Whoever authenticated; the empty string where nobody has to. */
  readonly principal: string;
  /** Whose the tasks are that its calls begin; the empty string: whoever has a task's id. */
  readonly taskOwner: string;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly info: Readonly<Record<string, unknown>>;
  /**
   * Puts a server's question (sampling, elicitation, roots) to the client. `params` is raw JSON.
   */
  ask(method: string, params: string, about: About): Promise<Answer>;
  /** The least log level that this client asked for; undefined: nothing was said. */
  readonly logLevel: LogLevel | "off" | undefined;
}

/** What a server's question belongs to. */
export interface About {
  /** The call that it was asked for; undefined: it is for the client as such. */
  readonly call: Call | undefined;
  /** Aborts when the server takes the question back; its reason is the server's own words. */
  readonly signal?: AbortSignal | undefined;
}

/** Why a call was given up before its answer. */
export type CancelReason = "client" | "timeout" | "shutdown";

export interface CallOptions {
  readonly method: string;
  readonly params: Params;
  /** The raw JSON of the params. */
  readonly text: string;
  readonly client: Client;
  /** Sends a notification that belongs to this request to its client. */
  readonly emit: (notification: string) => void;
  /** Trace headers of the request, carried on to HTTP backends. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
}

export class Call {
  readonly method: string;
  readonly params: Params;
  readonly text: string;
  readonly client: Client;
  readonly trace: Readonly<Record<string, string>> | undefined;
  readonly emit: (notification: string) => void;
  /** A short id for logs and error messages. */
  readonly requestId: string;
  #cancelled: CancelReason | undefined;
  #cancelWords: string | undefined;
  #listeners: ((reason: CancelReason) => void)[] | undefined;

  constructor(options: CallOptions) {
    this.method = options.method;
    this.params = options.params;
    this.text = options.text;
    this.client = options.client;
    this.emit = options.emit;
    this.trace = options.trace;
    this.requestId = nextRequestId();
  }

  get cancelled(): CancelReason | undefined {
    return this.#cancelled;
  }

  /** Why it was given up, in the client's own words, if it said so. */
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

  /** The same request with other params, for a tool that is called through another one. */
  derive(options: { readonly method: string; readonly params: Params; readonly text: string }): Call {
    const call = new Call({
      ...options,
      client: this.client,
      emit: this.emit,
      ...(this.trace && { trace: this.trace }),
    });
    this.onCancel((reason) => call.cancel(reason, this.#cancelWords));
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
