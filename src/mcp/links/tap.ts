/**
 * Lets somebody listen to the messages of a link, both ways.
 *
 * Invariant: a tap changes nothing. It sees each message as it is on the wire, before the peer
 * reads it, and may keep the bytes of a small one for a while, because nothing is written over
 * them. While it is off, a message costs one look at `isOn`.
 */
import type { Call } from "../protocol/call.ts";

/** What hears the messages of one link. */
export interface LinkTap {
  readonly isOn: boolean;
  sent(text: string, call: Call | undefined): void;
  received(bytes: Buffer, call: Call | undefined): void;
}

/** Makes what hears the messages of a new link. */
export type MakeTap = () => LinkTap;
