/**
 * The members of Node that Node does not document and that are used all the same, because each is
 * worth more than 5 % of a small call, or because nothing documented tells the same. This is the
 * only file that names them. A Node without them, or with other ones of these names, is served in
 * the plain way: `testOneWrite` and `sentBytes` see to that.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

export const nodeMembers = {
  /** The head of a response as text, once `writeHead` was called. */
  head: "_header",
  /** Whether Node counts the head as sent. */
  isHeadSent: "_headerSent",
  /** A connection as the system has it. An encrypted one has another one inside. */
  handle: "_handle",
};

/**
 * Sends head and body in one write. `end(body)` would append an empty chunk and make the system
 * call take a list: 5 to 10 % of a small call. `writeHead` must have been called.
 */
export function endInOneWrite(response: ServerResponse, body: string, encoding: "latin1" | "utf8"): void {
  const members = response as unknown as Record<string, unknown>;
  const head = members[nodeMembers.head] as string;
  members[nodeMembers.isHeadSent] = true;
  response.socket!.write(head + body, encoding);
  response.end();
}

interface Handle {
  readonly bytesWritten?: unknown;
  readonly writeQueueSize?: unknown;
  readonly _parent?: Handle;
}

/**
 * How many bytes of a connection the system has taken, so that two looks tell whether its client
 * reads. What Node documents counts a write only when all of it was taken: a client that reads one
 * large answer slowly would seem to read nothing.
 */
export function sentBytes(socket: Socket): number {
  const own = (socket as unknown as Record<string, Handle | null | undefined>)[nodeMembers.handle];
  const { bytesWritten, writeQueueSize } = own?._parent ?? own ?? {};
  if (typeof bytesWritten === "number" && typeof writeQueueSize === "number") return bytesWritten - writeQueueSize;
  return socket.bytesWritten - socket.writableLength;
}
