/**
 * Guesses the level of a line that a program wrote to stderr, so that a log can be filtered by it.
 *
 * Programs write everything to stderr, from banners to stack traces. A line is taken for what it
 * says about itself. The lines of a stack trace have the level of the line that they follow.
 */
export type StderrLevel = "debug" | "info" | "warn" | "error";

/** What a logger writes in front of a message. */
const names: ReadonlyMap<string, StderrLevel> = new Map([
  ...["error", "err", "fatal", "critical", "panic", "severe"].map((name) => [name, "error"] as const),
  ...["warn", "warning"].map((name) => [name, "warn"] as const),
  ...["info", "notice"].map((name) => [name, "info"] as const),
  ...["debug", "trace", "verbose"].map((name) => [name, "debug"] as const),
]);
const signs: readonly (readonly [StderrLevel, RegExp])[] = [
  ["error", /\b\w{0,50}(?:Error|Exception)\b|\b(?:Traceback|panicked at|FATAL|ERROR|npm error|npm ERR!)/],
  ["error", /^\s*(?:uncaught|unhandled|cannot|can't|could not|failed)\b/i],
  ["warn", /\bWARN|\b\w{0,50}Warning\b|\bdeprecated\b/],
];
const continued = /^(?:\s{2,}|\t|\s*\^+\s*$|node:internal|Caused by)/;
/** A level stands near the beginning; a long line is not searched whole. */
const SEARCHED = 300;

export function createStderrLevels(): (line: string) => StderrLevel {
  let last: StderrLevel = "info";
  return (line) => {
    const head = line.slice(0, SEARCHED);
    // Single letters are parts of a time, such as T and Z.
    const first = /[A-Za-z]{2,}/.exec(head)?.[0].toLowerCase() ?? "";
    const found = names.get(first) ?? signs.find(([, sign]) => sign.test(head))?.[0];
    if (found === undefined && continued.test(head)) return last;
    last = found ?? "info";
    return last;
  };
}
