/**
 * The calls that wait for a person, the answers, and what they allow.
 *
 * Invariants: a call runs only with a grant that has its key. An answer is recorded before it takes
 * effect, and so is the start of a call; if that cannot be written, nothing runs. A question is
 * answered at most once, by an operator who is not the one who asked. Whatever is refused is
 * recorded too. What one account may have waiting is bounded, in number and in bytes.
 */
import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import { type Alarm, Alarms } from "../../lib/timing/alarms.ts";
import { GoblinError, messageOf } from "../../mcp/protocol/errors.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import { type Answering, AnswerRefused, checkAnswer, type RefusalReason } from "./answering.ts";
import { Continuations } from "./continuations.ts";
import { grantFor } from "./grant-for.ts";
import { Grants } from "./grants.ts";
import { Ledger, type LedgerHooks, type OpenedLedger } from "./ledger.ts";
import { type Placed, type PlaceLimits, Places } from "./places.ts";
import type { ApprovalRecord, EndReason, Grant, Span } from "./record.ts";
import { restore } from "./restore.ts";
import { keptArguments } from "./shown-arguments.ts";
import { keyOf, type Subject } from "./subject.ts";

export interface ApprovalsSettings extends PlaceLimits {
  readonly timeoutMs: number;
  /** How often a client that waits is told so. */
  readonly progressMs: number;
}

export interface ApprovalsOptions {
  readonly settings: () => ApprovalsSettings;
  /** Returns arguments as people see them. */
  readonly show: (args: string) => string;
  readonly opened?: OpenedLedger | undefined;
  /** Gets each line of the chain, without the shown arguments and with them. */
  readonly onLine?: LedgerHooks["onLine"];
  /** Where an operator answers on a page; undefined: there is none. */
  readonly pageOf: (id: string) => string | undefined;
  /** Identifies the approved version of a server; undefined: its versions are not locked. */
  readonly lockOf: (serverId: string) => string | undefined;
  /** Whether no operator can reach the API: the gateway belongs to the client that started it. */
  readonly isAlone: () => boolean;
  readonly onLimit: OnLimit;
  readonly warn: (message: string) => void;
}

export interface ApprovalsEvents {
  /** A question is there, or another thing is known of it. */
  changed: [record: ApprovalRecord];
  closed: [];
}

/** A call that waits. */
export interface Waiting extends Placed {
  readonly subject: Subject;
  /** As the server will get them. */
  readonly args: string;
  /** Tells the client that it still waits. */
  readonly tell: (record: ApprovalRecord) => void;
  /** Its place is free: the call goes on, or is refused, as the record says. */
  readonly end: () => void;
}

interface Held extends Waiting, Alarm {
  readonly record: ApprovalRecord;
  readonly key: string;
}

const MAX_RECORDS = 1000;

export class Approvals extends EventEmitter<ApprovalsEvents> {
  readonly #options: ApprovalsOptions;
  readonly #ledger: Ledger;
  readonly #grants = new Grants();
  readonly #continuations = new Continuations();
  readonly #held = new Map<string, Held>();
  /** Oldest first; those that are held, too. */
  readonly #records: Map<string, ApprovalRecord>;
  readonly #places: Places;
  readonly #alarms = new Alarms();
  #telling: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ApprovalsOptions) {
    super();
    this.#options = options;
    this.#places = new Places(options.settings, options.onLimit);
    const { records, grants } = restore(options.opened?.lines ?? []);
    const hooks: LedgerHooks = {
      onLine: options.onLine,
      summary: () => ({ grants: this.grants(), held: [...this.#held.values()].map(({ record }) => record) }),
    };
    this.#ledger = options.opened?.create(hooks) ?? new Ledger(hooks);
    this.#records = records;
    this.#grants.replace(grants);
    this.#forgetOld();
  }

  get isAlone(): boolean {
    return this.#options.isAlone();
  }

  pageOf(id: string): string | undefined {
    return this.#options.pageOf(id);
  }

  lockOf(serverId: string): string | undefined {
    return this.#options.lockOf(serverId);
  }

  /** Ends the questions that an earlier process left open. */
  begin(): void {
    for (const record of this.#records.values()) if (record.state === "held") this.#finish(record, "restart");
  }

  records(): ApprovalRecord[] {
    return [...this.#records.values()];
  }

  find(id: string): ApprovalRecord | undefined {
    return this.#records.get(id);
  }

  grants(): Grant[] {
    return this.#grants.all(Date.now());
  }

  get heldCount(): number {
    return this.#held.size;
  }

  /** The size of the calls that wait. */
  get heldBytes(): number {
    return this.#places.bytes;
  }

  /** Uses a grant for a call. The call must be reported with `executed` before it is sent. */
  take(subject: Subject): Grant | undefined {
    return this.#grants.take(keyOf(subject), subject.session, Date.now());
  }

  /**
   * Lets a call go on that a person allowed and whose server wanted input. `state`: the server's
   * own, in JSON. Returns the grant that it began with; undefined: no such call waits for input.
   * Rejects if that cannot be recorded.
   */
  async resume(subject: Subject, state: string | undefined, requestId: string): Promise<Grant | undefined> {
    const key = inputKey(subject);
    const grant = this.#continuations.take(key, state, Date.now());
    if (!grant) return undefined;
    const { id, approval } = grant;
    try {
      await this.#ledger.append({ event: "resumed", id: approval, grant: id, requestId, digest: subject.digest });
    } catch (error) {
      this.#continuations.add(key, state, grant, Date.now());
      throw unrecorded(error);
    }
    return grant;
  }

  /** The server of a call that was allowed wants input. `state`: the server's own, in JSON. */
  awaitsInput(subject: Subject, state: string | undefined, grant: Grant): void {
    this.#continuations.add(inputKey(subject), state, grant, Date.now());
  }

  /** Holds a call until `end` is called. @throws GoblinError if too many wait */
  hold(waiting: Waiting): ApprovalRecord {
    if (this.#isClosed) throw new GoblinError("NOT_APPROVED", "The gateway is shutting down: nobody can approve calls");
    if (this.#ledger.isBehind) {
      this.#ledger.retry();
      throw new GoblinError("NOT_APPROVED", "The call was not run: approvals cannot be recorded now");
    }
    this.#places.take(waiting);
    const { timeoutMs, progressMs } = this.#options.settings();
    const now = Date.now();
    const { subject, args, bytes } = waiting;
    const id = randomBytes(5).toString("hex");
    const shown = this.#options.show(args);
    const expiresAt = now + timeoutMs;
    const record: ApprovalRecord = { id, subject, shown, bytes, proposedAt: now, expiresAt, state: "held", runs: 0 };
    const ring = (): void => this.end(id, "timeout");
    const held: Held = { ...waiting, record, key: keyOf(subject), due: 0, place: -1, ring };
    this.#held.set(id, held);
    this.#records.set(id, record);
    this.#forgetOld();
    this.#alarms.set(held, performance.now() + timeoutMs);
    this.#append({ event: "proposed", id, subject, bytes, expiresAt }, keptArguments(shown));
    this.#telling ??= setInterval(() => this.#tellAll(), progressMs).unref();
    held.tell(record);
    this.emit("changed", record);
    return record;
  }

  /** Ends a question that nobody has answered. */
  end(id: string, why: EndReason): void {
    const held = this.#held.get(id);
    if (held?.record.state !== "held") return;
    this.#finish(held.record, why);
    this.#release(held);
  }

  /** Allows a call that waits. Returns what was granted. @throws AnswerRefused */
  async allow(answering: Answering & { readonly span: Span }): Promise<Grant> {
    const held = this.#answerable(answering);
    const { span, by } = answering;
    const { record } = held;
    if (span === "session" && record.subject.session === null) throw this.#refuse(answering, "no-session");
    const onceMs = this.#options.settings().timeoutMs;
    const grant = grantFor(held, { span, by: by.name || "operator", onceMs });
    await this.#answer(held, { state: "allowed", span, by: grant.by }, { event: "approved", grant });
    this.#grants.add(grant);
    this.#release(held);
    // The same question of the same party has the same answer, unless that was for one call.
    if (grant.uses === null) for (const other of [...this.#held.values()]) this.#join(other, grant);
    return grant;
  }

  /** Denies a call that waits. @throws AnswerRefused */
  async deny(answering: Answering & { readonly words?: string | undefined }): Promise<void> {
    const held = this.#answerable(answering);
    const { words } = answering;
    const by = answering.by.name || "operator";
    await this.#answer(held, { state: "denied", by, words }, { event: "denied", words });
    this.#release(held);
  }

  /** Ends a grant. Returns it, or undefined if there is none. */
  async revoke(id: string, by: string): Promise<Grant | undefined> {
    if (!this.grants().some((grant) => grant.id === id)) return undefined;
    await this.#ledger.append({ event: "revoked", grant: id, by: by || "operator" });
    this.#continuations.remove(id);
    return this.#grants.remove(id);
  }

  /** Records that a call runs with a grant. Rejects if that cannot be recorded: it must not run. */
  async executed(grant: Grant, { subject, requestId }: { subject: Subject; requestId: string }): Promise<void> {
    const { id, approval } = grant;
    const { digest, session } = subject;
    try {
      await this.#ledger.append({ event: "executed", id: approval, grant: id, requestId, session, digest });
    } catch (error) {
      this.#grants.giveBack(id);
      this.#append({ event: "returned", id: approval, grant: id, requestId, outcome: "unrecorded", undone: true });
      throw unrecorded(error);
    }
    const record = this.#records.get(approval);
    if (record) this.#change(record, { runs: record.runs + 1, outcome: "unknown" });
  }

  /** `isUndone`: the server surely did not get the call, so the grant may be used again. */
  returned(grant: Grant, result: { outcome: string; requestId: string; isUndone: boolean }): void {
    const { id, approval } = grant;
    const { outcome, requestId, isUndone } = result;
    if (isUndone) this.#grants.giveBack(id);
    this.#append({ event: "returned", id: approval, grant: id, requestId, outcome, ...(isUndone && { undone: true }) });
    const record = this.#records.get(approval);
    if (record) this.#change(record, { outcome });
  }

  sessionEnded(session: string): void {
    if (!this.#isClosed) this.#grants.removeSession(session);
  }

  /** Ends all questions. Their calls are answered and not run. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const id of [...this.#held.keys()]) this.end(id, "shutdown");
    clearInterval(this.#telling);
    await this.#ledger.settled();
    this.emit("closed");
  }

  /** Records an answer before it counts. */
  async #answer(
    held: Held,
    answer: Partial<ApprovalRecord>,
    line: { readonly event: string; readonly grant?: Grant; readonly words?: string | undefined },
  ): Promise<void> {
    const { record } = held;
    const { id } = record;
    // At once: a second answer must not come in between.
    Object.assign(record, answer, { answeredAt: Date.now() });
    try {
      await this.#ledger.append({ ...line, id, by: answer.by });
    } catch (error) {
      // The line is written when the disk takes lines again: this one says that it never counted.
      this.#append({ event: "withdrawn", id, grant: line.grant?.id });
      Object.assign(record, { state: "held", by: undefined, span: undefined, answeredAt: undefined, words: undefined });
      this.#alarms.set(held, performance.now() + Math.max(0, record.expiresAt - Date.now()));
      throw new AnswerRefused("unrecorded", `The answer cannot be recorded: ${messageOf(error)}`);
    }
    this.emit("changed", record);
  }

  #answerable(answering: Answering): Held {
    const { id } = answering;
    const record = this.#records.get(id);
    const why = checkAnswer(record, answering);
    const held = this.#held.get(id);
    if (why !== undefined || !held) throw this.#refuse(answering, why ?? "late");
    return held;
  }

  #refuse({ id, by }: Answering, why: RefusalReason): AnswerRefused {
    this.#append({ event: "refused", id: id.slice(0, 100), by: by.name || "operator", why });
    return new AnswerRefused(why);
  }

  #join(held: Held, grant: Grant): void {
    const { record, key } = held;
    if (record.state !== "held" || key !== grant.key) return;
    if (grant.span === "session" && record.subject.session !== grant.subject.session) return;
    Object.assign(record, { state: "allowed", by: grant.by, span: grant.span, answeredAt: grant.at });
    this.#append({ event: "joined", id: record.id, by: grant.by, grant: grant.id });
    this.emit("changed", record);
    this.#release(held);
  }

  #release(held: Held): void {
    const { record } = held;
    if (!this.#held.delete(record.id)) return;
    this.#alarms.clear(held);
    record.shown = keptArguments(record.shown);
    this.#places.giveBack(held);
    if (this.#held.size === 0) {
      clearInterval(this.#telling);
      this.#telling = undefined;
    }
    held.end();
  }

  #finish(record: ApprovalRecord, why: EndReason): void {
    this.#append({ event: "ended", id: record.id, why });
    this.#change(record, { state: "ended", ended: why });
  }

  #change(record: ApprovalRecord, change: Partial<ApprovalRecord>): void {
    Object.assign(record, change);
    this.emit("changed", record);
  }

  #tellAll(): void {
    for (const held of this.#held.values()) held.tell(held.record);
  }

  /** For lines that nothing waits for. */
  #append(event: Readonly<Record<string, unknown>>, args?: string): void {
    this.#ledger.append(event, args).catch((error: unknown) => {
      this.#options.warn(`A line about an approval waits to be written: ${messageOf(error)}`);
    });
  }

  #forgetOld(): void {
    if (this.#records.size <= MAX_RECORDS + this.#held.size) return;
    for (const id of this.#records.keys()) {
      if (this.#held.has(id)) continue;
      this.#records.delete(id);
      if (this.#records.size <= MAX_RECORDS + this.#held.size) return;
    }
  }
}

/** A call goes on in the session that it began in. */
function inputKey(subject: Subject): string {
  return JSON.stringify([keyOf(subject), subject.session]);
}

function unrecorded(error: unknown): GoblinError {
  return new GoblinError("NOT_APPROVED", `The call was not run: its approval cannot be recorded (${messageOf(error)})`);
}
