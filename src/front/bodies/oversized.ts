/**
 * The edges of a body that is too large, which is read on without being kept. They show the id of
 * the request, so that the error costs the client that one request only: some clients end their
 * session at a refused POST.
 */
import { idAtEdges } from "../../lib/structures/lines.ts";

/** How much of each edge is kept. */
export const EDGE = 200;

/** A body may be this many times as large as allowed to be read to its end. */
export const READ_ON = 4;

export class OversizedBody {
  readonly #head: string;
  #tail = "";

  /** `head`: the first bytes, as much as there is, as bytes or as latin1. */
  constructor(head: string | Buffer) {
    this.#head = typeof head === "string" ? head : head.toString("latin1", 0, EDGE);
  }

  push(chunk: Buffer): void {
    this.#tail = (this.#tail + chunk.toString("latin1", Math.max(0, chunk.length - EDGE))).slice(-EDGE);
  }

  /** The id of the request; undefined if it cannot be read, or if there are several. */
  get id(): number | undefined {
    return this.#head.trimStart().startsWith("{") ? idAtEdges(this.#head, this.#tail) : undefined;
  }
}
