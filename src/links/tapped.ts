/**
 * Lets somebody listen to the messages of a link, both ways.
 *
 * Invariant: a tap changes nothing. It sees each message as it is on the wire, before the peer
 * reads it. While it is off, a message costs one look at `isOn`.
 */
import type { Call } from "../protocol/call.ts";
import type { GoblinError } from "../protocol/errors.ts";
import type { Fate, Link, LinkEvents, OpenLink, SendOptions } from "./link.ts";

/** What hears the messages of one link. */
export interface LinkTap {
  readonly isOn: boolean;
  sent(text: string, call: Call | undefined): void;
  received(bytes: Buffer, call: Call | undefined): void;
}

/** `tap` makes the listener of one link. */
export function tapped(open: OpenLink, tap: (() => LinkTap) | undefined): OpenLink {
  if (!tap) return open;
  return async (events, signal) => {
    const own = tap();
    return new TappedLink(await open(new TappedEvents(events, own), signal), own);
  };
}

class TappedLink implements Link {
  readonly #link: Link;
  readonly #tap: LinkTap;

  constructor(link: Link, tap: LinkTap) {
    this.#link = link;
    this.#tap = tap;
  }

  get hasSession(): boolean {
    return this.#link.hasSession ?? false;
  }

  get hint(): string | undefined {
    return this.#link.hint;
  }

  send(text: string, options?: SendOptions): void {
    if (this.#tap.isOn) this.#tap.sent(text, options?.call);
    this.#link.send(text, options);
  }

  drop(id: number): void {
    this.#link.drop(id);
  }

  takeBack(id: number): boolean {
    return this.#link.takeBack?.(id) ?? false;
  }

  established(headers: Readonly<Record<string, string>>): void {
    this.#link.established(headers);
  }

  redirect(events: LinkEvents): boolean {
    return this.#link.redirect?.(new TappedEvents(events, this.#tap)) ?? false;
  }

  close(): Promise<void> {
    return this.#link.close();
  }
}

class TappedEvents implements LinkEvents {
  readonly #events: LinkEvents;
  readonly #tap: LinkTap;

  constructor(events: LinkEvents, tap: LinkTap) {
    this.#events = events;
    this.#tap = tap;
  }

  message(bytes: Buffer, stream: number | undefined, call?: Call): void {
    if (this.#tap.isOn) this.#tap.received(bytes, call);
    this.#events.message(bytes, stream, call);
  }

  failed(id: number, error: GoblinError, fate: Fate): void {
    this.#events.failed(id, error, fate);
  }

  waiting(id: number): boolean {
    return this.#events.waiting(id);
  }

  closed(error: GoblinError, renew?: boolean): void {
    this.#events.closed(error, renew);
  }

  missed(): void {
    this.#events.missed?.();
  }

  problem(message: string, detail?: string): void {
    this.#events.problem(message, detail);
  }
}
