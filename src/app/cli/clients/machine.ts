/** The machine, the clients and the gateway that the commands about clients mean. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { endpointFor } from "../../../auth/access/endpoints.ts";
import { configPlaces } from "../../../config/reading/find.ts";
import type { Config } from "../../../config/schema/config.ts";
import { isSingleExecutable } from "../../../lib/package/files.ts";
import { nearestWord } from "../../../lib/text/nearest/nearest-word.ts";
import type { KnownClient, Machine, Program } from "../../clients/client.ts";
import { type GatewayEntry, OWN_NAME, serverEntryName } from "../../clients/linking.ts";
import { clients } from "../../clients/table.ts";
import { chooseConfig } from "../config.ts";
import { namedConfig } from "../environment.ts";
import { findGateway } from "../gateway/find-gateway.ts";
import { requireProfile } from "../suggest.ts";
import { UsageError } from "../usage-error.ts";

const FOLDER_PLACES = 2;
const TOKEN_VARIABLE = "GOBLIN_TOKEN";

export function thisMachine(): Machine {
  const { env, platform } = process;
  return { platform, env, home: env["HOME"] ?? env["USERPROFILE"] ?? homedir(), cwd: process.cwd() };
}

/** Returns the clients with these ids; all without ids. @throws UsageError */
export function namedClients(ids: readonly string[]): readonly KnownClient[] {
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
  /** Links to this profile only. */
  readonly profile?: string | undefined;
  /** One entry for each server. */
  readonly perServer?: boolean | undefined;
}

export interface Links {
  /** What these options ask for. */
  readonly chosen: readonly GatewayEntry[];
  /** Every entry that Goblin could have written for this config. */
  readonly all: readonly GatewayEntry[];
}

/** How clients reach the gateway of this config. @throws UsageError if there is no such profile */
export async function linkTo(options: LinkTarget): Promise<Links> {
  const { profile, perServer, url } = options;
  if (profile !== undefined && perServer) throw new UsageError("--profile and --per-server: use only one of them");
  const { config, file } = await chooseConfig(options);
  if (profile !== undefined && url === undefined) requireProfile(profile, Object.keys(config.profiles));
  const root = url === undefined ? undefined : (await findGateway(options)).url;
  return linksFor({ config, file: file?.path, root, profile, perServer });
}

export interface LinkSource extends Pick<LinkTarget, "profile" | "perServer"> {
  readonly config: Config;
  /** Where the config is, or will be. */
  readonly file: string | undefined;
  /** The gateway's own address; undefined: the config's. */
  readonly root?: string | undefined;
}

/** The same for a config that need not be written yet. */
export function linksFor({ config, file, profile, perServer, ...source }: LinkSource): Links {
  const { host, port } = config.gateway;
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  const scheme = config.gateway.tls ? "https" : "http";
  const root = source.root ?? `${scheme}://${shown}:${port}`;
  const token = wantsToken(config.gateway.auth) ? { tokenVariable: TOKEN_VARIABLE } : {};
  const runs = ownProgram();
  const args = [...runs.args, "stdio", "--attach", ...(file === undefined ? [] : ["--config", resolve(file)])];
  const link = (name: string, endpoint: string, more: readonly string[]): GatewayEntry => ({
    name,
    gateway: { url: `${root}/mcp${endpoint}`, ...token },
    program: { command: runs.command, args: [...args, ...more] },
  });
  const whole = link(OWN_NAME, "", []);
  const ofProfile = (name: string): GatewayEntry => link(OWN_NAME, endpointFor("p", name), ["--profile", name]);
  const ids = config.servers.filter(({ enabled }) => enabled).map(({ id }) => id);
  const ofServers = ids.map((id) => link(serverEntryName(id), endpointFor("s", id), ["--server", id]));
  const chosen = perServer ? ofServers : [profile === undefined ? whole : ofProfile(profile)];
  return { chosen, all: [whole, ...Object.keys(config.profiles).map(ofProfile), ...ofServers] };
}

function wantsToken({ tokens, clients: named, oauth }: Config["gateway"]["auth"]): boolean {
  return tokens.length > 0 || Object.keys(named).length > 0 || oauth !== undefined;
}

/**
 * How a client starts Goblin. The single executable is its own program. A copy in a cache may
 * vanish, so npx is asked for it again; another one stays where it is, and needs nothing on the
 * client's PATH.
 */
export function ownProgram(): Program {
  if (isSingleExecutable) return { command: process.execPath, args: [] };
  const script = process.argv[1] ?? "";
  if (/[/\\](_npx|dlx[^/\\]*|bunx-[^/\\]*)[/\\]/.test(script)) return { command: "npx", args: ["-y", "goblin-mcp"] };
  return { command: process.execPath, args: [script] };
}
