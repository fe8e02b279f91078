/**
 * Asks for one line on the terminal without showing what is typed.
 *
 * Invariant: the terminal echoes again afterwards, whatever happens. Ctrl-c ends the process as
 * usual; ctrl-d and an empty line answer nothing.
 */
import { StringDecoder } from "node:string_decoder";

const ENTER = new Set(["\r", "\n"]);
const ERASE = new Set(["\x7f", "\b"]);
const END = "\x04";
const INTERRUPT = "\x03";
const CLEAR_LINE = "\x15";

/** Whether somebody can answer. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Returns what was typed, or undefined if nothing was. Needs a terminal. */
export async function askHidden(question: string): Promise<string | undefined> {
  const { stdin, stderr } = process;
  const decoder = new StringDecoder("utf8");
  let typed: string[] = [];
  stdin.setRawMode(true);
  stderr.write(question);
  try {
    return await new Promise<string | undefined>((resolve) => {
      const onEnd = (): void => finish(undefined);
      const onData = (chunk: Buffer): void => {
        for (const character of decoder.write(chunk)) {
          if (ENTER.has(character)) return finish(typed.join("") || undefined);
          if (character === END) return finish(undefined);
          if (character === INTERRUPT) {
            finish(undefined);
            process.kill(process.pid, "SIGINT");
            return;
          }
          if (ERASE.has(character)) typed.pop();
          else if (character === CLEAR_LINE) typed = [];
          else if (character >= " ") typed.push(character);
        }
      };
      const finish = (answer: string | undefined): void => {
        stdin.off("data", onData).off("end", onEnd);
        resolve(answer);
      };
      stdin.on("data", onData).on("end", onEnd);
      stdin.resume();
    });
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write("\n");
  }
}
