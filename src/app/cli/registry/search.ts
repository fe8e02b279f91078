/** `goblin search`: looks for servers in the mirrored lists of the registries. */

import { clean } from "../../../lib/text/clean.ts";
import { type FoundInRegistry, findInRegistries } from "../../../upstream/registry/find.ts";
import { type Mirrored, mirrorOf } from "../../../upstream/registry/mirror.ts";
import { createStatusLine } from "../terminal/status-line.ts";
import { type Column, printJson, printTable } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";
import { ageOf } from "./age.ts";
import { openPlace } from "./config-place.ts";

export interface SearchCommandOptions {
  readonly config?: string | undefined;
  readonly limit: string;
  readonly refresh?: boolean | undefined;
  readonly json?: boolean | undefined;
}

const DESCRIPTION_CHARS = 80;

const columns: Column<FoundInRegistry>[] = [
  { title: "NAME", text: ({ name }) => name },
  { title: "VERSION", text: ({ version }) => version },
  { title: "RUNS", text: (server) => kindsOf(server).join(", ") },
  { title: "DESCRIPTION", text: ({ description }) => description.slice(0, DESCRIPTION_CHARS) },
];

export async function search(words: readonly string[], options: SearchCommandOptions): Promise<number> {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1) throw new UsageError(`--limit ${options.limit} is not a number from 1`);
  const { registries } = await openPlace(options.config);
  const line = createStatusLine();
  line.spin(() => `reading ${registries.join(", ")}`);
  const mirrors = await Promise.all(
    registries.map((registry) => mirrorOf(registry, { env: process.env, refresh: options.refresh })),
  ).finally(() => line.clear());
  const found = await findInRegistries(words.join(" "), mirrors, limit);
  if (options.json) {
    printJson({
      registries: mirrors.map(({ registry, readAt, problem, servers }) => ({
        registry,
        servers: servers.length,
        readAt: readAt ?? null,
        ...(problem !== undefined && { problem }),
      })),
      servers: found,
    });
  } else {
    if (found.length > 0) printTable(found, columns);
    else if (mirrors.some(({ readAt }) => readAt !== undefined)) console.log("No server was found.");
    for (const mirror of mirrors) tellAge(mirror);
  }
  return mirrors.every(({ readAt }) => readAt === undefined) ? 1 : 0;
}

/** Only what is not fresh is worth a line. */
function tellAge({ problem, readAt }: Mirrored): void {
  if (problem === undefined) return;
  const age = readAt === undefined ? "and there is no copy of its list" : `this is its list of ${ageOf(readAt)} ago`;
  console.error(clean(`${problem}; ${age}`));
}

function kindsOf({ packages, remotes }: FoundInRegistry): string[] {
  return [...new Set([...packages.map(({ kind }) => kind), ...(remotes.length > 0 ? ["remote"] : [])])];
}
