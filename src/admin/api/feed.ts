/**
 * Collects the gateway's live events and writes them to every open stream of the API.
 *
 * Invariant: without an open stream nothing but the history is computed. A stream's buffer is
 * bounded: when it is full the stream ends, and the client reconnects and reads everything again.
 * Lists are sent at most four times a second. Calls and log lines beyond a few hundred a second are
 * dropped, because the pulse carries the totals.
 */

import { Outbox } from "../../mcp/outbound/outbox.ts";
import { UnreadBudget } from "../../mcp/outbound/unread-budget.ts";
import type { Principal } from "../../mcp/protocol/principal.ts";
import { isStarting } from "../../mcp/protocol/server-states.ts";
import { type ApiRows, logEntry } from "./api-rows.ts";
import type { AdminEvent, AdminEventType } from "./events.ts";
import { History } from "./live/history.ts";
import type { AdminParts } from "./parts.ts";
import type { Moment } from "./schema.ts";

const BUFFER_BYTES = 1024 * 1024;
const STREAM_BYTES = 64 * 1024;
const LIST_MS = 250;
const CALLS_PER_PULSE = 200;
const LINES_PER_PULSE = 500;

type ListName = Extract<AdminEventType, "subscriptions" | "sessions" | "approvals" | "lock">;

export class Feed {
  readonly #parts: AdminParts;
  readonly #rows: ApiRows;
  /** Maps each open stream to its reader's principal. */
  readonly #streams = new Map<Outbox, Principal>();
  readonly #changed = new Set<ListName>();
  readonly #encoder = new TextEncoder();
  readonly #history: History;
  #stopListening: (() => void) | undefined;
  #listTimer: NodeJS.Timeout | undefined;
  #callsLeft = CALLS_PER_PULSE;
  #linesLeft = LINES_PER_PULSE;

  constructor(parts: AdminParts, rows: ApiRows) {
    this.#parts = parts;
    this.#rows = rows;
    this.#history = new History({
      activity: parts.activity,
      tokens: () => rows.tokens(),
      onSecond: (second) => this.#pulse(second),
    });
    const { servers, sessions, subscriptions, reloads } = parts;
    servers.on("status", (id) => this.#serverChanged(id));
    servers.on("removed", (id) => this.#serverChanged(id));
    for (const event of ["opened", "ended"] as const) sessions.on(event, () => this.#listChanged("sessions"));
    for (const event of ["added", "removed"] as const)
      subscriptions.on(event, () => this.#listChanged("subscriptions"));
    reloads.on("changed", () => this.#configChanged());
    parts.approvals.on("changed", () => this.#listChanged("approvals"));
    for (const event of ["changed", "compared"] as const) parts.lock.on(event, () => this.#listChanged("lock"));
    const { guards } = parts;
    guards.on("expired", (isLive) => this.#revoke(isLive));
    guards.on("changed", () => this.#revoke((principal) => guards.main.admits(principal, "admin")));
  }

  /** Opens a stream; it ends when the client disconnects or falls behind, or the gateway closes. */
  open(principal: Principal): ReadableStream<Uint8Array> {
    const budget = new UnreadBudget({ most: () => BUFFER_BYTES, onLimit: () => {} });
    const outbox = new Outbox({ budget });
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const end = (): void => {
            this.#drop(outbox);
            controller.close();
          };
          outbox.open({
            get isFull() {
              return (controller.desiredSize ?? 0) <= 0;
            },
            write: (text) => controller.enqueue(this.#encoder.encode(text)),
            end,
            cut: end,
          });
          this.#streams.set(outbox, principal);
          if (this.#streams.size === 1) this.#begin();
          outbox.push(textOf(this.#stateEvent(this.#history.newest)));
        },
        pull: () => outbox.drained(),
        cancel: () => this.#drop(outbox),
      },
      { highWaterMark: STREAM_BYTES, size: (chunk) => chunk.byteLength },
    );
  }

  /** Returns the figures of each second of the last two minutes, oldest first. */
  history(): Moment[] {
    return this.#history.seconds();
  }

  #serverChanged(id: string): void {
    if (this.#streams.size === 0) return;
    this.#send({ type: "server", data: { id, server: this.#rows.server(id) ?? null } });
  }

  #configChanged(): void {
    if (this.#streams.size === 0) return;
    this.#send({ type: "config", data: { problem: this.#rows.configProblem() } });
  }

  #listChanged(name: ListName): void {
    if (this.#streams.size === 0) return;
    this.#changed.add(name);
    this.#listTimer ??= setTimeout(() => {
      this.#listTimer = undefined;
      for (const changed of this.#changed) this.#sendList(changed);
      this.#changed.clear();
    }, LIST_MS).unref();
  }

  close(): void {
    this.#history.close();
    this.#revoke(() => false);
  }

  /** Ends the streams of readers whose access was revoked. */
  #revoke(isValid: (principal: Principal) => boolean): void {
    for (const [stream, principal] of [...this.#streams]) if (!isValid(principal)) stream.end();
  }

  #begin(): void {
    const { activity, logs, catalog } = this.#parts;
    const stops = [
      activity.onCall((call) => {
        if (this.#callsLeft-- > 0) this.#send({ type: "call", data: { ...call } });
      }),
      logs.onLine((line) => {
        if (this.#linesLeft-- > 0) this.#send({ type: "log", data: logEntry(line) });
      }),
    ];
    const onChange = (kinds: readonly ("tools" | "prompts" | "resources")[]): void =>
      this.#send({ type: "catalog", data: { kinds: [...kinds] } });
    catalog.on("change", onChange);
    stops.push(() => catalog.off("change", onChange));
    this.#stopListening = () => {
      for (const stop of stops) stop();
    };
  }

  #stateEvent(second: Moment): AdminEvent {
    return { type: "state", data: { ...second, ...this.#rows.totals() } };
  }

  #pulse(second: Moment): void {
    if (this.#streams.size === 0) return;
    this.#callsLeft = CALLS_PER_PULSE;
    this.#linesLeft = LINES_PER_PULSE;
    this.#send(this.#stateEvent(second));
    // The reason of a server that starts says how much time is left.
    const { servers } = this.#parts;
    for (const id of servers.ids()) if (isStarting(servers.status(id)?.state)) this.#serverChanged(id);
  }

  #sendList(name: ListName): void {
    if (name === "approvals") this.#send({ type: name, data: { held: this.#parts.approvals.heldCount } });
    else if (name === "lock") this.#send({ type: name, data: this.#rows.lock() });
    else if (name === "sessions") {
      const items = this.#rows.sessions();
      this.#send({ type: name, data: { items, total: items.length } });
    } else {
      const items = this.#rows.subscriptions();
      this.#send({ type: name, data: { items, total: items.length } });
    }
  }

  #send(event: AdminEvent): void {
    const text = textOf(event);
    for (const stream of [...this.#streams.keys()]) stream.push(text);
  }

  #drop(stream: Outbox): void {
    if (!this.#streams.delete(stream) || this.#streams.size > 0) return;
    clearTimeout(this.#listTimer);
    this.#listTimer = undefined;
    this.#changed.clear();
    this.#stopListening?.();
    this.#stopListening = undefined;
  }
}

function textOf({ type, data }: AdminEvent): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
