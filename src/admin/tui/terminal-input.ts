/**
 * Splits the bytes of a terminal into key presses, pastes and mouse reports.
 *
 * A sequence that ends in the middle of a chunk waits for the next one. A lone escape character is
 * the Escape key, unless more arrives within `ESCAPE_MS`.
 */
import { StringDecoder } from "node:string_decoder";
import type { KeyName, KeyPress } from "./keys.ts";

export interface TerminalInputOptions {
  readonly onPress: (press: KeyPress) => void;
  /** Called with one report in the SGR form, without its escape character. */
  readonly onMouse: (report: string) => void;
}

export interface TerminalInput {
  feed(chunk: Buffer): void;
  close(): void;
}

const ESCAPE_MS = 25;
const PASTE_START = "\u001b[200~";
const PASTE_END = "\u001b[201~";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of terminals start with it
const sequence = /^\u001b(?:\[(<?[\d;:]*[A-Za-z~^$])|O([A-Za-z])|([^\u001b[O]))/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the start of a sequence
const unfinished = /^\u001b(?:\[<?[\d;:]*|O)?$/;

/** The last letter of a sequence, or its number before `~`, with the key. */
const names: Readonly<Record<string, KeyName>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  Z: "tab",
  1: "home",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
};

export function createTerminalInput({ onPress, onMouse }: TerminalInputOptions): TerminalInput {
  const decoder = new StringDecoder("utf8");
  let waiting = "";
  let isPasting = false;
  let timer: NodeJS.Timeout | undefined;

  /** Returns how many characters it used; 0 if it needs more. */
  const readPaste = (text: string): number => {
    const end = text.indexOf(PASTE_END);
    if (end >= 0) isPasting = false;
    // The end may have arrived in part.
    const length = end >= 0 ? end : Math.max(0, text.length - PASTE_END.length + 1);
    if (length > 0) onPress({ input: text.slice(0, length), pasted: true });
    return end >= 0 ? end + PASTE_END.length : length;
  };

  const readSequence = (text: string): number => {
    if (text.startsWith(PASTE_START)) {
      isPasting = true;
      return PASTE_START.length;
    }
    const [whole, control, single, meta] = sequence.exec(text) ?? [];
    if (whole === undefined) {
      if (unfinished.test(text)) return 0;
      onPress({ input: "", name: "escape" });
      return 1;
    }
    if (meta !== undefined) onPress({ input: meta, meta: true });
    else if (control?.startsWith("<")) onMouse(`[${control}`);
    else {
      const name = keyName(control ?? single ?? "");
      if (name !== undefined) onPress({ input: "", name, shift: control === "Z" });
    }
    return whole.length;
  };

  const read = (): void => {
    while (waiting !== "") {
      const next = waiting.indexOf("\u001b");
      let used: number;
      if (isPasting) used = readPaste(waiting);
      else if (next === 0) used = readSequence(waiting);
      else {
        used = next < 0 ? waiting.length : next;
        onPress({ input: waiting.slice(0, used) });
      }
      if (used === 0) return;
      waiting = waiting.slice(used);
    }
  };

  return {
    feed(chunk) {
      clearTimeout(timer);
      waiting += decoder.write(chunk);
      read();
      if (waiting === "" || isPasting) return;
      timer = setTimeout(() => {
        waiting = "";
        onPress({ input: "", name: "escape" });
      }, ESCAPE_MS);
    },
    close: () => clearTimeout(timer),
  };
}

function keyName(body: string): KeyName | undefined {
  const [, number = "", last = ""] = /^(\d*)[\d;:]*([A-Za-z~^$])$/.exec(body) ?? [];
  return names[/[~^$]/.test(last) ? number : last.toUpperCase()];
}
