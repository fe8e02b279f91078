/**
 * `goblin trust` and `goblin untrust`: trust a found config by its digest, and revoke that trust.
 */
import { resolve } from "node:path";
import { findConfig } from "../../../config/reading/find.ts";
import { readConfigText } from "../../../config/reading/load.ts";
import { clean } from "../../../lib/text/clean.ts";
import { printJson, printTable } from "../terminal/table.ts";
import { describeConfig } from "../trust/consent.ts";
import { type Trusted, TrustStore } from "../trust/trust-store.ts";
import { UsageError } from "../usage-error.ts";

export interface TrustOptions {
  readonly list?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export async function trust(given: string | undefined, options: TrustOptions): Promise<number> {
  const store = new TrustStore();
  if (options.list) {
    if (given !== undefined) throw new UsageError("--list shows all trusted files and takes no file");
    return printTrusted(store.list(), options.json === true);
  }
  const file = await readConfigText(fileToTrust(given));
  store.trust(file.path, file.digest);
  if (options.json) printJson({ file: file.path, sha256: file.digest, trusted: true });
  else {
    console.log(describeConfig(file));
    console.log(`\nTrusted until it changes: ${clean(file.path)}`);
  }
  return 0;
}

export async function untrust(given: string | undefined): Promise<number> {
  const path = fileToTrust(given);
  const was = new TrustStore().untrust(path);
  console.log(was ? `No longer trusted: ${clean(path)}` : `Was not trusted: ${clean(path)}`);
  return 0;
}

function fileToTrust(given: string | undefined): string {
  if (given !== undefined) return resolve(given);
  const path = findConfig(process.cwd(), process.env);
  if (path === undefined) throw new UsageError("there is no config in this folder: name the file");
  return path;
}

type Row = Trusted & { readonly state: "trusted" | "changed since" | "gone" };

async function printTrusted(trusted: readonly Trusted[], json: boolean): Promise<number> {
  const rows: Row[] = await Promise.all(
    trusted.map(async (one) => {
      const now = await readConfigText(one.file).catch(() => undefined);
      const state = now === undefined ? "gone" : now.digest === one.sha256 ? "trusted" : "changed since";
      return { ...one, state };
    }),
  );
  if (json) printJson(rows);
  else if (rows.length === 0) console.error("no config is trusted");
  else {
    printTable(rows, [
      { title: "FILE", text: ({ file }) => file },
      { title: "STATE", text: ({ state }) => state },
      { title: "SHA-256", text: ({ sha256 }) => sha256.slice(0, 12) },
      { title: "SINCE", text: ({ at }) => at },
    ]);
  }
  return 0;
}
