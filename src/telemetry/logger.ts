/**
 * The gateway's log: pino lines to stderr, as JSON or, on a terminal, readable. A tap sees every line, for the API and the dashboard.
 * Secrets do not get here: headers, environments and arguments are never logged.
 */
import { type Logger, pino } from "pino";

export type { Logger };

export interface LogLine {
  readonly time: number;
  readonly level: string;
  readonly server?: string;
  readonly msg: string;
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface LoggerOptions {
  readonly level: string;
  readonly format: "auto" | "json" | "pretty";
  readonly stream: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  readonly tap?: (line: LogLine) => void;
}

export function createLogger({ level, format, stream, tap }: LoggerOptions): Logger {
  const pretty = format === "pretty" || (format === "auto" && stream.isTTY === true);
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.epochTime },
    {
      write(text: string) {
        if (!pretty && !tap) return void stream.write(text);
        const line = readLine(text);
        tap?.(line);
        stream.write(pretty ? prettyLine(line, stream.isTTY === true) : text);
      },
    },
  );
}

function readLine(text: string): LogLine {
  const { level, time, msg, server, ...extra } = JSON.parse(text) as Record<string, unknown>;
  return {
    time: Number(time),
    level: pino.levels.labels[Number(level)] ?? "info",
    msg: String(msg ?? ""),
    ...(typeof server === "string" && { server }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

const COLORS: Readonly<Record<string, number>> = { trace: 90, debug: 90, info: 36, warn: 33, error: 31, fatal: 31 };

function prettyLine({ time, level, server, msg, extra }: LogLine, color: boolean): string {
  const paint = (code: number, text: string): string => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const clock = new Date(time).toISOString().slice(11, 23);
  const details = extra ? ` ${paint(90, plain(JSON.stringify(extra)))}` : "";
  const from = server ? `${paint(35, plain(server))} ` : "";
  return `${paint(90, clock)} ${paint(COLORS[level] ?? 36, level.padEnd(5))} ${from}${plain(msg)}${details}\n`;
}

/** What a server wrote must not move the cursor or change the colours of the terminal that shows it. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "�");
}
