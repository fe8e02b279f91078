/** A recording: what is asked for, what is known of it, and the thread that writes it. */
import type { FromThread, ToThread } from "./thread-messages.ts";

export interface RecordSettings {
  readonly dir: string;
  /** Patterns of server ids. */
  readonly servers: readonly string[];
  readonly maxBytes: number;
  readonly bodies: boolean;
}

/** The thread, as `node:worker_threads` has it. It does not keep the process alive. */
export interface Thread {
  postMessage(message: ToThread): void;
  on(event: "message", listener: (message: FromThread) => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  ref(): void;
  terminate(): Promise<unknown>;
}

export interface RecordingState {
  readonly settings: RecordSettings;
  readonly run: string;
  readonly startedAt: number;
  /** When it ends by itself; undefined: it does not. */
  readonly until: number | undefined;
  readonly frames: number;
  readonly lost: number;
  readonly bytes: number;
}
