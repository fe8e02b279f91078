/**
 * The gateway's log: pino lines to stderr, as JSON, or formatted on a terminal. A log book keeps
 * the newest lines for the API and the dashboard. Headers, environments and arguments are never
 * logged. Values that the config marks as secret are masked everywhere.
 */
import { type Logger, pino } from "pino";
import { LogBook, type LogLine, readLine } from "./log-book.ts";

export type { Logger, LogLine };

export interface LoggerOptions {
  readonly level: string;
  readonly format: "auto" | "json" | "pretty";
  readonly stream: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  readonly tap?: (line: LogLine) => void;
}

const books = new WeakMap<Logger, LogBook>();

/** Returns the log book of a logger made here; for any other logger, a new empty one. */
export function logBookOf(logger: Logger): LogBook {
  const known = books.get(logger);
  if (known) return known;
  const book = new LogBook();
  book.adopt(logger);
  books.set(logger, book);
  return book;
}

export function createLogger({ level, format, stream, tap }: LoggerOptions): Logger {
  const pretty = format === "pretty" || (format === "auto" && stream.isTTY === true);
  const colour = stream.isTTY === true && !process.env["NO_COLOR"];
  const book = new LogBook();
  if (tap) book.onLine(tap);
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.epochTime, onChild: (child) => book.adopt(child) },
    {
      write(text: string) {
        const line = book.masker.jsonLine(text);
        book.take(line);
        stream.write(pretty ? prettyLine(readLine(line), colour) : line);
      },
    },
  );
  book.adopt(logger);
  books.set(logger, book);
  return logger;
}

const COLORS: Readonly<Record<string, number>> = { trace: 90, debug: 90, info: 36, warn: 33, error: 31, fatal: 31 };

const CONTINUED = `\n${" ".repeat("12:00:00.000 level ".length)}`;

/** How a server's state is shown on a terminal, and in which colour. */
const STATES: Readonly<Record<string, readonly [sign: string, colour: number]>> = {
  installing: ["◔", 33],
  connecting: ["◌", 33],
  ready: ["●", 32],
  degraded: ["◐", 33],
  down: ["✗", 31],
};

function prettyLine({ time, level, server, msg, extra }: LogLine, color: boolean): string {
  const paint = (code: number, text: string): string => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const clock = new Date(time).toISOString().slice(11, 23);
  // Continuation lines are indented, so that they cannot pass for separate log lines.
  const text = plain(msg).replaceAll("\n", CONTINUED);
  const start = `${paint(90, clock)} ${paint(COLORS[level] ?? 36, level.padEnd(5))}`;
  const state = server === undefined ? undefined : STATES[String(extra?.["state"])];
  // The words of a state already say everything that its details do.
  if (state) return `${start} ${paint(state[1], `${state[0]} ${plain(server!)}`)}  ${text}\n`;
  if (server !== undefined && extra?.["stream"] === "stderr") return `${start} ${paint(35, plain(server))} | ${text}\n`;
  const details = extra ? ` ${paint(90, plain(JSON.stringify(extra)))}` : "";
  const from = server ? `${paint(35, plain(server))} ` : "";
  return `${start} ${from}${text}${details}\n`;
}

/**
 * Replaces control characters: a server's text must not move the cursor or change the terminal's
 * colours.
 */
function plain(text: string): string {
  return text.replace(/(?![\t\n])\p{Cc}|[\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu, "�");
}
