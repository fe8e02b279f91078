/**
 * The entry of `goblin stdio --attach`, a file of its own in the bundle. Clients wait for it at
 * their start, so it loads neither the parser of the command line nor the schema of the config.
 */
import { runAttach } from "./run-attach.ts";
import { attachWords, quickTarget } from "./target.ts";

/** Returns the exit code; undefined if the words or the config need the whole command line. */
export async function attachQuickly(words: readonly string[]): Promise<number | undefined> {
  const options = attachWords(words);
  const target = options && (await quickTarget(options, process.env));
  if (!target) return undefined;
  try {
    await runAttach(target, options);
    return 0;
  } catch (error) {
    process.stderr.write(`goblin: ${printable(error instanceof Error ? error.message : String(error))}\n`);
    return 1;
  }
}

/** A message may quote a log: nothing in it may control the terminal. */
function printable(text: string): string {
  return text.replace(/(?!\n)\p{C}/gu, "");
}
