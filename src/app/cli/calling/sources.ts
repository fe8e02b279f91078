/** Where arguments of a call come from, beside the command line: files and stdin. */
import { readFileSync } from "node:fs";
import { text as readAll } from "node:stream/consumers";
import { UsageError } from "../usage-error.ts";

export interface Sources {
  /** The value of --args. */
  readonly json: string | undefined;
  readonly read: (source: string, key: string) => string;
}

/** Reads stdin if a word or --args asks for it. */
export async function openSources(pairs: readonly string[], args: string | undefined): Promise<Sources> {
  const wanting = [...pairs.filter((word) => /^[^=]+=@-$/.test(word)), ...(args === "-" ? ["--args -"] : [])];
  if (wanting.length > 1) throw new UsageError(`only one argument can come from stdin: ${wanting.join(", ")}`);
  const stdin = wanting.length === 0 ? "" : await readAll(process.stdin);
  return { json: args === "-" ? stdin : args, read: (source, key) => (source === "-" ? stdin : fileText(source, key)) };
}

function fileText(path: string, key: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : (error as Error).message;
    throw new UsageError(`${key}=@${path}: ${why}; for the text itself, write ${key}:='"@${path}"'`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`${key}=@${path}: the file is not text in UTF-8`);
  }
}
