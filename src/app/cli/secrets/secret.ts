/**
 * `goblin secret set`, `list` and `rm`: the named secrets of `${keychain:NAME}`. A value comes from
 * stdin or a hidden prompt, never from the command line, and is never shown.
 */
import { type KeptSecret, problemOfName, SecretStore } from "../../../auth/secrets/secret-store.ts";
import { clean } from "../../../lib/text/clean.ts";
import { type Column, printJson, printTable } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { askHidden, hasTerminal } from "./hidden-prompt.ts";

const MAX_BYTES = 256 * 1024;

const columns: Column<KeptSecret>[] = [
  { title: "NAME", text: ({ name }) => name },
  { title: "STORE", text: ({ store }) => store },
];

export async function setSecret(name: string, hasMore: boolean): Promise<number> {
  if (hasMore) {
    const way = "leave it out and type it when asked, or pipe it in";
    throw new UsageError(`a value on the command line can be seen by others and is kept by the shell: ${way}`);
  }
  const problem = problemOfName(name);
  if (problem !== undefined) throw new UsageError(problem);
  const store = await SecretStore.open(process.env);
  const value = process.stdin.isTTY ? await typed(name) : await piped();
  if (value === undefined) throw new UsageError("no value was given, so nothing is changed");
  const kept = await store.set(name, value);
  const place = kept === store.kind ? store.place : "the encrypted file: it is too long for the keychain";
  console.error(clean(`Set "${name}" in ${place}. A server gets it at its next start.`));
  return 0;
}

export async function listSecrets(options: { readonly json?: boolean | undefined }): Promise<number> {
  const store = await SecretStore.open(process.env);
  const secrets = await store.list();
  if (options.json) printJson({ store: store.kind, place: store.place, secrets });
  else {
    if (secrets.length > 0) printTable(secrets, columns);
    console.error(clean(`${secrets.length === 0 ? "No secret is set. " : ""}New secrets go to ${store.place}.`));
  }
  return 0;
}

export async function removeSecrets(names: readonly string[]): Promise<number> {
  const store = await SecretStore.open(process.env);
  let missing = 0;
  for (const name of names) {
    const was = await store.remove(name);
    console.error(clean(was ? `Removed "${name}".` : `There is no secret "${name}".`));
    if (!was) missing++;
  }
  return missing > 0 ? 1 : 0;
}

function typed(name: string): Promise<string | undefined> {
  if (!hasTerminal()) throw new UsageError("there is no terminal to ask on: pipe the value to stdin");
  return askHidden(clean(`Value of "${name}" (not shown): `));
}

/** Without the last line break, which `echo` and editors add. */
async function piped(): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BYTES) throw new UsageError(`the value is too long: at most ${MAX_BYTES} bytes are read`);
  }
  return (
    Buffer.concat(chunks)
      .toString("utf8")
      .replace(/\r?\n$/, "") || undefined
  );
}
