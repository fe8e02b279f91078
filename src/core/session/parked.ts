/**
 * Calls whose server asks a question in the middle, for clients that cannot be asked. The client
 * gets the questions and a state as its answer. It repeats the request with the answers and that
 * state; meanwhile the call waits here.
 *
 * The state is sealed (AES-256-GCM, a key that only replicas share), bound to the principal and to
 * the request, good for one round and for a limited time. A state that is tampered with, replayed,
 * foreign or expired is refused, and the server hears nothing. A parked call that nobody comes back
 * for is cancelled. No account has more than its share of the places to wait.
 */
import { randomUUID } from "node:crypto";
import { type ByteSealer, createByteSealer } from "../../lib/crypto/byte-sealer.ts";
import { Shares } from "../../lib/structures/shares.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, failure } from "../../mcp/protocol/json-rpc.ts";
import { limitExceeded, type OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import { type Dialogue, type Question, questionsText } from "./dialogue.ts";
import { notValid } from "./request-state.ts";

interface Parked {
  readonly dialogue: Dialogue;
  readonly binding: string;
  round: number;
  timer: NodeJS.Timeout;
}

interface State {
  /** The parked call; absent: nothing waits, the request is simply made again. */
  readonly id?: string;
  readonly round: number;
  readonly binding: string;
  readonly expires: number;
}

const PREFIX = "goblin.";
const TTL_MS = 10 * 60_000;

export interface ParkedOptions {
  /** How many may wait at once. */
  readonly limit: () => number;
  readonly onLimit: OnLimit;
  /** Seals the states. Replicas share it. */
  readonly key: Buffer;
  /** Marks a state as one of this replica, which has the call that waits. */
  readonly own: (state: string) => string;
}

export interface Parking {
  readonly binding: string;
  readonly known?: string | undefined;
}

/** Returns the id in a state, which begins with the mark of its replica; undefined for others. */
export function parkedId(state: unknown): string | undefined {
  return typeof state === "string" && state.startsWith(PREFIX) ? state.slice(PREFIX.length) : undefined;
}

export class ParkedCalls {
  readonly #options: ParkedOptions;
  readonly #sealer: ByteSealer;
  readonly #parked = new Map<string, Parked>();
  readonly #shares = new Shares();

  constructor(options: ParkedOptions) {
    this.#options = options;
    this.#sealer = createByteSealer(options.key);
  }

  /**
   * Parks the call until the client retries it. Returns the answer with the server's questions.
   * `known`: the id of a call that was parked before.
   */
  park(dialogue: Dialogue, questions: readonly Question[], { binding, known }: Parking): Answer {
    const id = known ?? randomUUID();
    const parked = this.#parked.get(id);
    const value = this.#options.limit();
    const { account } = dialogue.call.client;
    if (!parked && !this.#shares.take(account, value)) {
      this.#options.onLimit("callsAwaitingInput");
      dialogue.call.cancel("client");
      const isFull = this.#shares.total >= value;
      const whose = isFull ? "too many calls wait" : "too many calls of this token or address wait";
      const what = `${whose} for answers to a server's questions`;
      return failure(limitExceeded({ limit: "callsAwaitingInput", value, what, advice: "try again later" }));
    }
    const round = (parked?.round ?? 0) + 1;
    clearTimeout(parked?.timer);
    const timer = setTimeout(() => {
      this.forget(id);
      dialogue.call.cancel("client");
    }, TTL_MS).unref();
    this.#parked.set(id, { dialogue, binding, round, timer });
    return inputRequired(questions, this.#seal({ id, round, binding, expires: Date.now() + TTL_MS }));
  }

  /** A state that lets the same request be made again, for questions that no call waits for. */
  again(questions: readonly Question[], binding: string): Answer {
    return inputRequired(questions, this.#seal({ round: 0, binding, expires: Date.now() + TTL_MS }));
  }

  /**
   * What a state that came back stands for: a server's own or none, a request to make again, or a
   * call that waits. Throws when it is of a call that waited and not good.
   */
  open(state: unknown, bind: () => string): "foreign" | "again" | { readonly id: string; readonly dialogue: Dialogue } {
    if (typeof state !== "string" || !state.startsWith(PREFIX)) return "foreign";
    const opened = this.#unseal(state);
    if (!opened || opened.binding !== bind()) throw notValid();
    if (opened.expires < Date.now())
      throw new GoblinError("INVALID_PARAMS", "requestState has expired: make the request anew");
    if (opened.id === undefined) return "again";
    const parked = this.#parked.get(opened.id);
    if (!parked || parked.round !== opened.round || parked.dialogue.isWaitedFor) {
      throw new GoblinError("INVALID_PARAMS", "requestState was used already, or its call is over");
    }
    return { id: opened.id, dialogue: parked.dialogue };
  }

  close(): void {
    for (const [id, { dialogue }] of this.#parked) {
      this.forget(id);
      dialogue.call.cancel("shutdown");
    }
  }

  /** The call is over. */
  forget(id: string): void {
    const parked = this.#parked.get(id);
    if (!parked) return;
    clearTimeout(parked.timer);
    this.#parked.delete(id);
    this.#shares.giveBack(parked.dialogue.call.client.account);
  }

  #seal(state: State): string {
    const sealed = this.#sealer.seal(JSON.stringify(state)).toString("base64url");
    // Where nothing waits, any replica can make the request again.
    return PREFIX + (state.id === undefined ? sealed : this.#options.own(sealed));
  }

  #unseal(text: string): State | undefined {
    try {
      const sealed = text.slice(text.lastIndexOf(".") + 1);
      const bytes = this.#sealer.open(Buffer.from(sealed, "base64url"));
      return JSON.parse(bytes.toString("utf8")) as State;
    } catch {
      return undefined;
    }
  }
}

function inputRequired(questions: readonly Question[], requestState: string): Answer {
  const state = JSON.stringify(requestState);
  const questionsByKey = questionsText(questions);
  return { ok: true, raw: `{"resultType":"input_required","inputRequests":${questionsByKey},"requestState":${state}}` };
}
