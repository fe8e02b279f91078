/**
 * An MCP client on this machine, as far as its settings are concerned: where its file is, where the
 * servers stand in it, and how it writes an entry.
 */

/** The machine as the clients see it. */
export interface Machine {
  readonly platform: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of the project. */
  readonly cwd: string;
}

export type SettingsScope = "user" | "project";

export type SettingsEntry = Readonly<Record<string, unknown>>;

/** How to reach the gateway. */
export interface GatewayTarget {
  readonly url: string;
  /** The environment variable with the token, if one is needed. */
  readonly tokenVariable?: string | undefined;
}

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

export interface KnownClient {
  /** As the command line names it. */
  readonly id: string;
  readonly title: string;
  readonly format: "json" | "toml" | "yaml";
  /** The keys that lead to the servers. */
  readonly section: readonly string[];
  /** The servers are a list, and each has its name inside. */
  readonly isList?: boolean;
  /** The user's file: the first that exists counts, else the first. */
  readonly user: (machine: Machine) => readonly string[];
  /** The project's file, below its folder. */
  readonly project?: readonly string[];
  /** Undefined: the client can only start programs. */
  readonly remote?: (url: string, headers: Readonly<Record<string, string>>) => SettingsEntry;
  readonly program: (program: Program) => SettingsEntry;
  /** How the client writes an environment variable in a header; undefined: it cannot. */
  readonly variable?: (name: string) => string;
}

/** Returns the entry for a gateway over HTTP, or why there is none. */
export function remoteEntry(client: KnownClient, { url, tokenVariable }: GatewayTarget): SettingsEntry | string {
  if (!client.remote) return "it can only start programs: use --mode stdio";
  if (tokenVariable === undefined) return client.remote(url, {});
  if (!client.variable)
    return "the gateway wants a token, and this client cannot take one from a variable: use --mode stdio";
  return client.remote(url, { Authorization: `Bearer ${client.variable(tokenVariable)}` });
}
