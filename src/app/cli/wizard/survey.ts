/**
 * Finds the servers of all clients on this machine and starts them once, to say what they offer and
 * which of them fail. Nothing is written.
 */
import { adminRoutes } from "../../../admin/api/routes.ts";
import { parseConfig } from "../../../config/reading/parse.ts";
import type { ServerState } from "../../../mcp/protocol/server-states.ts";
import type { KnownClient } from "../../clients/client.ts";
import { chooseServers, findServers, type Import, type Problem } from "../../clients/importing.ts";
import { plainSecrets } from "../../clients/plain-secrets.ts";
import { isPossible } from "../clients/import.ts";
import { namedClients, thisMachine } from "../clients/machine.ts";
import { startTarget } from "../gateway/target.ts";
import { counted } from "../terminal/counted.ts";

/** A server that could be taken over. */
export interface Candidate extends Import {
  readonly server: ServerState;
  readonly reason: string | undefined;
  readonly tools: number;
  readonly tokens: number;
}

export interface Survey {
  /** All entries of all clients. */
  readonly imports: readonly Import[];
  readonly candidates: readonly Candidate[];
  /** The clients that have servers. */
  readonly clients: readonly KnownClient[];
  readonly duplicates: number;
  readonly plainSecrets: number;
  readonly problems: readonly Problem[];
}

/** Reads the clients' settings. */
export async function findImports(): Promise<{ imports: readonly Import[]; problems: readonly Problem[] }> {
  const { servers, problems } = await findServers(namedClients([]), thisMachine());
  const chosen = chooseServers(servers, new Map());
  return { imports: chosen.filter((server) => server.state !== "new" || isPossible(server, problems)), problems };
}

/** Starts the servers that were found, and stops them again. */
export async function survey(imports: readonly Import[], problems: readonly Problem[]): Promise<Survey> {
  const fresh = imports.filter(({ state }) => state === "new");
  const rows = await tryServers(fresh);
  return {
    imports,
    candidates: fresh.map((server) => {
      const row = rows.get(server.name);
      return {
        ...server,
        server: row?.state ?? "disabled",
        reason: row?.reason ?? undefined,
        tools: row?.counts.tools ?? 0,
        tokens: row?.tokens ?? 0,
      };
    }),
    clients: [...new Set(imports.map(({ client }) => client))],
    duplicates: imports.length - fresh.length,
    plainSecrets: fresh.flatMap(({ name, entry }) => plainSecrets(name, entry)).length,
    problems,
  };
}

type Rows = Awaited<ReturnType<typeof listRows>>;

async function tryServers(servers: readonly Import[]): Promise<Rows> {
  if (servers.length === 0) return new Map();
  const mcpServers = Object.fromEntries(servers.map(({ name, entry }) => [name, entry]));
  const text = JSON.stringify({ mcpServers, metaTools: { enabled: [] } });
  const { config } = parseConfig(text, { file: "goblin.json", env: process.env });
  process.once("SIGINT", interrupted);
  const target = await startTarget({ config, quiet: true });
  process.off("SIGINT", interrupted);
  try {
    return await listRows(target);
  } finally {
    await target.close();
  }
}

/** What was started ends with the process. */
function interrupted(): never {
  console.error("\nNothing was changed.");
  process.exit(130);
}

async function listRows(target: Awaited<ReturnType<typeof startTarget>>) {
  const { items } = await target.request(adminRoutes.listServers);
  return new Map(items.map((row) => [row.id, row]));
}

/** Says all of it in one sentence. */
export function summary({ candidates, clients, duplicates, plainSecrets: plain }: Survey): string {
  const sum = (of: (one: Candidate) => number): number => candidates.reduce((total, one) => total + of(one), 0);
  const failing = candidates.filter(isFailing).length;
  const logins = candidates.filter(({ server }) => server === "needs-login").length;
  const parts = [
    `${counted(candidates.length, "server")} in ${listed(clients.map(({ title }) => title))}: ` +
      `${counted(
        sum(({ tools }) => tools),
        "tool",
      )}, about ${thousands(sum(({ tokens }) => tokens))} tokens`,
    ...(duplicates > 0 ? [counted(duplicates, "duplicate")] : []),
    ...(plain > 0 ? [`${counted(plain, "secret")} in plain text`] : []),
    ...(logins > 0 ? [logins === 1 ? "1 server needs a login" : `${logins} servers need a login`] : []),
    ...(failing > 0 ? [failing === 1 ? "1 server fails" : `${failing} servers fail`] : []),
  ];
  return parts.join("; ");
}

/** Whether it should run but does not. */
export function isFailing({ server }: Candidate): boolean {
  return server !== "ready" && server !== "degraded" && server !== "needs-login" && server !== "disabled";
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

function thousands(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${Math.round(tokens / 1000)} k`;
}
