/**
 * One HTTP request and its answer, as the protocol code sees them: the same over Node's own objects
 * (fast) and over the web's Request and Response (everywhere else, and tests in process).
 */
export interface HttpExchange {
  /** Headers that every answer gets, whoever makes it. */
  shared: Readonly<Record<string, string>> | undefined;
  readonly method: string;
  /** `name` in lower case. */
  header(name: string): string | undefined;
  query(name: string): string | undefined;
  /**
   * Reads the body and calls `done` once: without it when it is larger than allowed, not at all
   * when the client breaks off.
   */
  body(limit: number, done: (body: Buffer | undefined) => void): void;
  /** Sends the whole answer. May be called once; after the client has gone it does nothing. */
  reply(status: number, headers: Readonly<Record<string, string>>, body?: Body): void;
  /** Answers with an event stream. */
  stream(headers: Readonly<Record<string, string>>, events: StreamEvents): RawStream;
  /** Runs once when the connection ends before the answer was complete. */
  onAbort(listener: () => void): void;
  /** Runs once when the answer has left, or the connection has ended. */
  onDone(listener: () => void): void;
}

export type Body = string | readonly (string | Buffer)[];

export interface StreamEvents {
  /** The stream can take more. */
  drained(): void;
  closed(): void;
  /** Everything was sent, and the connection held for a while after. */
  delivered?(): void;
}

export interface RawStream {
  /** It takes nothing for now, or no more. */
  readonly isFull: boolean;
  /** May be called while it is not full. */
  write(text: string): void;
  end(): void;
  /** Breaks off without waiting for the client to read what was written. */
  cut(): void;
}

export const JSON_HEADERS = { "content-type": "application/json" } as const;
export const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;
