/**
 * What a program last said on stderr, and which of it tells why the program ended.
 *
 * Only the newest lines are kept, each cut. Stack frames and advertisements are left out; the last
 * line that sounds like an error counts, with what follows it.
 */

import { Ring } from "../../../lib/structures/ring.ts";
import { logText } from "../../protocol/log-text.ts";
import { brokenNpxFolder, npxRemedy } from "./npx-folder.ts";

const KEPT_LINES = 40;
const LINE_CHARS = 1000;
const SHOWN_CHARS = 300;

/** npm puts this before each line of an error. */
const PREFIX = /^npm (?:error|ERR!)(?: \d{3}\b| [A-Z0-9]{4,}\b)?/;
const NOISE = [
  /^\s*at .+[:)]\d*\)?(?: \{)?$/,
  /^\s*[\^~]+\s*$/,
  /^Node\.js v\d/,
  /^\s*File ".+", line \d+/,
  /^[{}[\]),;\s]*$/,
  /A complete log of this run/,
  /^npm (?:notice|warn)/i,
  /\bNote that you can also install from a/,
  /^tarball, folder, http url/,
  /^\s+(?:code|errno|syscall|path|requireStack|\[cause\]):/,
];
const TELLS =
  /error|exception|fail|required|missing|must |cannot|can't|could not|unable|not found|no such|denied|invalid|unknown|unexpected|refused|fatal|usage/i;

export class LastWords {
  readonly #lines = new Ring<string>(KEPT_LINES);
  readonly #redact: (text: string) => string;

  /** `redact` hides the program's secrets. */
  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  add(line: string): void {
    this.#lines.push(line.slice(0, LINE_CHARS));
  }

  /** Why the program ended, as far as it said so: short, on one line, without secrets. */
  get reason(): string | undefined {
    const lines = this.#lines.items();
    const folder = brokenNpxFolder(lines);
    const words = folder === undefined ? tellingWords(lines) : npxRemedy(folder);
    return words === undefined ? undefined : logText(this.#redact(words), SHOWN_CHARS);
  }
}

/** Why a program ended, as far as its last lines say so. */
export function tellingWords(lines: readonly string[]): string | undefined {
  const words = lines
    .filter((line) => !NOISE.some((noise) => noise.test(line)))
    .map((line) =>
      line
        .replace(PREFIX, "")
        .replace(/^ (?=\S)/, "")
        .trimEnd(),
    )
    .filter((line) => line !== "" && !NOISE.some((noise) => noise.test(line)));
  // What is indented belongs to the line before it.
  const isHead = (line: string): boolean => !/^\s/.test(line) && TELLS.test(line);
  const head = words.findLastIndex(isHead);
  const from = head === -1 ? words.findLastIndex((line) => TELLS.test(line)) : head;
  const text = words
    .slice(from === -1 ? -1 : from)
    .map((line) => line.trim())
    .join(" ");
  return text === "" ? undefined : text;
}
