/**
 * `goblin approvals verify`: checks the chains of lines about approvals. Needs no gateway.
 *
 * Exit code 0 if all chains are whole, 1 if one is not.
 */
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readChain } from "../../../auth/approvals/chain.ts";
import { stateFolder } from "../../../config/state-folder.ts";
import { clean } from "../../../lib/text/clean.ts";
import { printJson } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

interface Verified {
  readonly file: string;
  readonly lines: number;
  /** The hash of the last line: with it, a chain that was written anew can be told apart. */
  readonly last: string | null;
  readonly problem: string | null;
}

export async function verify(files: readonly string[], { json }: { readonly json?: boolean }): Promise<number> {
  const named = files.length > 0 ? files : await ownFiles();
  const all = named.map(verified);
  if (json) printJson({ files: all });
  else if (all.length === 0) console.log("There are no approvals in the state folder.");
  else
    for (const { file, lines, last, problem } of all) {
      const words = problem ?? `whole, ${lines} ${lines === 1 ? "line" : "lines"}${last ? `, last hash ${last}` : ""}`;
      console.log(clean(`${file}: ${words}`));
    }
  return all.every(({ problem }) => problem === null) ? 0 : 1;
}

async function ownFiles(): Promise<string[]> {
  const folder = stateFolder(process.env);
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => /^approvals-.*\.jsonl$/.test(name)).map((name) => join(folder, name));
}

function verified(file: string): Verified {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`${file} cannot be read: ${(cause as Error).message}`);
  }
  const { lines, broken } = readChain(text);
  const problem = broken ? `broken at line ${broken.line}: ${broken.problem}` : null;
  return { file, lines: lines.length, last: lines.at(-1)?.hash ?? null, problem };
}
