/**
 * Keeps the newest log lines for the API and the dashboard, and controls the log level. A level
 * change at run time applies to every child logger too.
 */
import { type Logger, pino } from "pino";
import { Ring } from "../../lib/structures/ring.ts";
import { Masker } from "./masker.ts";

export interface LogLine {
  readonly time: number;
  readonly level: string;
  readonly server?: string;
  readonly msg: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

const KEPT_LINES = 2000;
/** A longer line is kept without its details, and its message is cut. */
const MAX_LINE_LENGTH = 20_000;
const MIN_PRUNED = 1000;

export class LogBook {
  readonly masker = new Masker();
  /** Raw lines, parsed on demand. */
  readonly #lines = new Ring<string>(KEPT_LINES);
  readonly #listeners = new Set<(line: LogLine) => void>();
  #loggers: WeakRef<Logger>[] = [];
  #pruneAt = MIN_PRUNED;

  /** Stores a line that was just written. */
  take(text: string): void {
    this.#lines.push(text.length <= MAX_LINE_LENGTH ? text : shortened(text));
    if (this.#listeners.size === 0) return;
    const line = readLine(text);
    for (const listener of this.#listeners) listener(line);
  }

  /** Returns the lines, oldest first. */
  lines(): LogLine[] {
    return this.#lines.items().map(readLine);
  }

  onLine(listener: (line: LogLine) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Puts a logger or a child logger under this book's level. */
  adopt(logger: Logger): void {
    this.#loggers.push(new WeakRef(logger));
    if (this.#loggers.length < this.#pruneAt) return;
    this.#loggers = this.#loggers.filter((ref) => ref.deref() !== undefined);
    this.#pruneAt = Math.max(MIN_PRUNED, this.#loggers.length * 2);
  }

  /** The level of the first logger, which is the parent of the others. */
  get level(): string {
    return this.#loggers[0]?.deref()?.level ?? "info";
  }

  setLevel(level: string): void {
    this.#loggers = this.#loggers.filter((ref) => {
      const logger = ref.deref();
      if (logger) logger.level = level;
      return logger !== undefined;
    });
  }
}

function shortened(text: string): string {
  const { level, time, server, msg } = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify({ level, time, server, msg: `${String(msg ?? "").slice(0, MAX_LINE_LENGTH)}…` });
}

export function readLine(text: string): LogLine {
  const { level, time, msg, server, ...extra } = JSON.parse(text) as Record<string, unknown>;
  return {
    time: Number(time),
    level: pino.levels.labels[Number(level)] ?? "info",
    msg: String(msg ?? ""),
    ...(typeof server === "string" && { server }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}
