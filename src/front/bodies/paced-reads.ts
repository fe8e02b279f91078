/**
 * Reads large bodies a part a turn. Node reads up to 2 MB of each socket in one turn of the event
 * loop, and many sockets that are full would hold up everything else.
 */
import type { IncomingMessage } from "node:http";

/** The number of bodies that are read from in one turn. */
const PER_TURN = 16;
const PART_BYTES = 32 * 1024;

const waiting: IncomingMessage[] = [];

/** Returns a function to call with the size of each chunk. It pauses the request until its turn. */
export function pacedReads(request: IncomingMessage): (bytes: number) => void {
  let bytes = 0;
  return (more) => {
    bytes += more;
    if (bytes < PART_BYTES) return;
    bytes = 0;
    request.pause();
    if (waiting.push(request) === 1) setImmediate(turn);
  };
}

function turn(): void {
  for (const request of waiting.splice(0, PER_TURN)) request.resume();
  if (waiting.length > 0) setImmediate(turn);
}
