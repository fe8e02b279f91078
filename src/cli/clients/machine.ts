/** The machine, the clients and the gateway that the commands about clients mean. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Client, Machine } from "../../clients/client.ts";
import type { Link } from "../../clients/linking.ts";
import { clients } from "../../clients/table.ts";
import { configPlaces } from "../../config/reading/find.ts";
import { nearestWord } from "../../text/nearest/nearest-word.ts";
import { chooseConfig } from "../config.ts";
import { namedConfig } from "../environment.ts";
import { findGateway } from "../gateway/find-gateway.ts";
import { UsageError } from "../usage-error.ts";

const FOLDER_PLACES = 2;
const TOKEN_VARIABLE = "GOBLIN_TOKEN";

export function thisMachine(): Machine {
  const { env, platform } = process;
  return { platform, env, home: env["HOME"] ?? env["USERPROFILE"] ?? homedir(), cwd: process.cwd() };
}

/** Returns the clients with these ids; all without ids. @throws UsageError */
export function namedClients(ids: readonly string[]): readonly Client[] {
  if (ids.length === 0) return clients;
  return [...new Set(ids)].map((id) => {
    const found = clients.find((client) => client.id === id);
    if (found) return found;
    const known = clients.map((client) => client.id);
    const meant = nearestWord(id, known);
    const hint = meant === undefined ? `known are ${known.join(", ")}` : `did you mean "${meant}"?`;
    throw new UsageError(`there is no client "${id}" (${hint})`);
  });
}

/** The config that servers are imported into: the named one, or the user's own. */
export function ownConfig(option: string | undefined): string {
  const named = namedConfig(option, process.env);
  return named === undefined ? configPlaces(process.cwd(), process.env)[FOLDER_PLACES]! : resolve(named);
}

export interface LinkTarget {
  readonly config?: string | undefined;
  readonly url?: string | undefined;
}

/** How clients reach the gateway of this config. */
export async function linkTo(options: LinkTarget): Promise<Link> {
  const { config, file } = await chooseConfig(options);
  const { tokens, clients: named, oauth } = config.gateway.auth;
  const wantsToken = tokens.length > 0 || Object.keys(named).length > 0 || oauth !== undefined;
  const { host, port } = config.gateway;
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  const scheme = config.gateway.tls ? "https" : "http";
  const root = options.url === undefined ? `${scheme}://${shown}:${port}` : (await findGateway(options)).url;
  return {
    gateway: { url: `${root}/mcp`, ...(wantsToken && { tokenVariable: TOKEN_VARIABLE }) },
    program: {
      command: "npx",
      args: ["-y", "goblin-mcp", "stdio", ...(file === undefined ? [] : ["--config", resolve(file.path)])],
    },
  };
}
