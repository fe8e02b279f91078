/**
 * Tells an address of the operator's what waits for a person, and how it ended. Each message is
 * signed, so that its reader knows where it comes from and when.
 *
 * Invariants: only the config names the address. No redirect is followed, and nothing of an answer
 * is read but its status. What is told has its secrets masked. A message is tried a few times, a
 * few at once, and what waits is bounded: an address that is slow or gone costs nobody anything.
 */
import { createHmac, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Throttle } from "../../lib/timing/throttle.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import type { ApprovalRecord, ApprovalState } from "./record.ts";
import { cutArguments } from "./shown-arguments.ts";

export interface WebhookSettings {
  readonly url: string;
  readonly secret: string;
}

export interface WebhookOptions {
  /** Undefined: nobody is told. */
  readonly settings: () => WebhookSettings | undefined;
  /** Where a person can answer, if there is such a place. */
  readonly pageOf: (id: string) => string | undefined;
  readonly warn: (message: string) => void;
  /** How long to wait before each further attempt. */
  readonly pausesMs?: readonly number[];
}

interface Message {
  readonly id: string;
  readonly body: string;
}

const TIMEOUT_MS = 10_000;
const PAUSES_MS = [1000, 5000, 25_000];
const MAX_WAITING = 1000;
const AT_ONCE = 4;
const MAX_ARGUMENTS_LENGTH = 4000;

export class Webhook {
  readonly #options: WebhookOptions;
  readonly #told = new WeakMap<ApprovalRecord, ApprovalState>();
  readonly #waiting: Message[] = [];
  readonly #stop = new AbortController();
  /** An address that is gone must not flood the log. */
  readonly #lines = new Throttle({ burst: 5, everyMs: 60_000 });
  #busy = 0;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  changed(record: ApprovalRecord): void {
    if (!this.#options.settings() || this.#told.get(record) === record.state) return;
    this.#told.set(record, record.state);
    if (this.#waiting.length >= MAX_WAITING) return this.#warn("too many messages wait");
    const body = JSON.stringify(messageOn(record, this.#options.pageOf(record.id)));
    this.#waiting.push({ id: randomUUID(), body });
    if (this.#busy < AT_ONCE) void this.#work();
  }

  close(): void {
    this.#waiting.length = 0;
    this.#stop.abort();
  }

  async #work(): Promise<void> {
    this.#busy++;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await this.#deliver(next);
    this.#busy--;
  }

  async #deliver(message: Message): Promise<void> {
    const pauses = this.#options.pausesMs ?? PAUSES_MS;
    for (let attempt = 0; ; attempt++) {
      const problem = await this.#send(message);
      if (problem === undefined || this.#stop.signal.aborted) return;
      const wait = pauses[attempt];
      if (wait === undefined) return this.#warn(problem);
      await pause(wait, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {});
    }
  }

  /** Returns what went wrong. */
  async #send({ id, body }: Message): Promise<string | undefined> {
    const settings = this.#options.settings();
    if (!settings) return undefined;
    const timestamp = Math.floor(Date.now() / 1000);
    const signature = signatureOf(settings.secret, timestamp, body);
    try {
      const response = await fetch(settings.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-goblin-delivery": id,
          "x-goblin-timestamp": String(timestamp),
          "x-goblin-signature": `sha256=${signature}`,
        },
        body,
        redirect: "manual",
        signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      await response.body?.cancel();
      return response.ok ? undefined : `it answered ${response.status}`;
    } catch (error) {
      const { cause } = error as { cause?: unknown };
      return messageOf(cause ?? error);
    }
  }

  #warn(problem: string): void {
    if (this.#lines.pass() !== undefined) this.#options.warn(`The webhook of approvals was not told: ${problem}`);
  }
}

/** HMAC-SHA256 over the time in seconds, a dot and the body, in hex. */
export function signatureOf(secret: string, timestamp: number, body: string): string {
  return createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
}

function messageOn(record: ApprovalRecord, page: string | undefined): Record<string, unknown> {
  const { id, state, subject, shown, proposedAt, expiresAt, by, ended } = record;
  const { who, client, server, kind, name, shownName, digest, rule, reason } = subject;
  return {
    type: `approval.${state}`,
    id,
    server,
    [kind]: name,
    shownName,
    who: who || null,
    client: client || null,
    arguments: cutArguments(shown, MAX_ARGUMENTS_LENGTH),
    digest,
    rule,
    reason,
    proposedAt: new Date(proposedAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
    ...(by !== undefined && { by }),
    ...(ended !== undefined && { ended }),
    ...(page !== undefined && { page }),
  };
}
