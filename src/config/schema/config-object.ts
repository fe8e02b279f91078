/**
 * The config as an object: what may stand in goblin.json. Generated from the schema by
 * `npm run build`; do not edit.
 */
// biome-ignore-all format: generated

/** A config as it would stand in goblin.json. */
export interface ConfigObject {
  /** The servers by id, as in Claude Desktop, Claude Code, Cursor, Windsurf and Cline. */
  readonly mcpServers?: Readonly<Record<string, ServerObject>> | undefined;
  /** The servers by id, as in VS Code. */
  readonly servers?: Readonly<Record<string, ServerObject>> | undefined;
  /** The address of this schema, for editors. */
  readonly $schema?: string | undefined;
  /** VS Code's inputs. ${input:some-id} is read from the environment variable SOME_ID. */
  readonly inputs?: readonly {
    readonly id: string;
    readonly [key: string]: unknown;
  }[] | undefined;
  /** Where the gateway listens and who may connect. */
  readonly gateway?: GatewaySettings | undefined;
  /** How tools are shown to clients. */
  readonly tools?: ToolsSettings | undefined;
  /** The gateway's own tools. */
  readonly metaTools?: MetaToolsSettings | undefined;
  /** The names of tools and prompts. */
  readonly names?: NamesSettings | undefined;
  /** How resources are shown to clients. */
  readonly resources?: ResourcesSettings | undefined;
  /** How lists are paged. */
  readonly lists?: ListsSettings | undefined;
  /** What clients and servers may use up. */
  readonly limits?: LimitsSettings | undefined;
  /** How long things may take. */
  readonly timeouts?: TimeoutsSettings | undefined;
  /** How servers that fail are treated. */
  readonly backends?: BackendsSettings | undefined;
  /** What is logged, and how. */
  readonly log?: LogSettings | undefined;
}

/** A server's entry under `mcpServers`. */
export interface ServerObject {
  /**
   * How to reach the server. Without it: stdio for a command; for a url, http that falls back to
   * sse.
   */
  readonly type?: "stdio" | "http" | "streamable-http" | "streamableHttp" | "sse" | undefined;
  /** Cline's name for type. */
  readonly transportType?: "stdio" | "http" | "streamable-http" | "streamableHttp" | "sse" | undefined;
  /** The program to start. ./x is relative to the config's folder; ~ is home. */
  readonly command?: string | undefined;
  /** Its arguments. A leading ~ is the home folder. */
  readonly args?: readonly string[] | undefined;
  /** Environment variables for the program, besides the own. */
  readonly env?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** A file of NAME=value lines for the program's environment; env wins. */
  readonly envFile?: string | undefined;
  /** The program's working folder, relative to the config's folder. */
  readonly cwd?: string | undefined;
  /** The address of a remote server. */
  readonly url?: string | undefined;
  /** Windsurf's name for url. */
  readonly serverUrl?: string | undefined;
  /** HTTP headers for a remote server. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** false: the server is neither started nor listed. Default true. */
  readonly enabled?: boolean | undefined;
  /** Cline's opposite of enabled. */
  readonly disabled?: boolean | undefined;
  /**
   * What goes before its names; a name under it is this server's alone. Default: its id and "_"; ""
   * exposes the names as they are.
   */
  readonly prefix?: string | undefined;
  /**
   * One connection for all clients, or one for each client session (below). Default: "all", but
   * "session" for a program where gateway.auth has more than one token.
   */
  readonly share?: "all" | "session" | undefined;
  /** Replaces timeouts.callMs for this server. */
  readonly timeoutMs?: number | undefined;
  /** Replaces tools.expose for this server. */
  readonly expose?: "all" | "search" | {
    /** The tools that stay listed. */
    readonly pinned: readonly string[];
  } | undefined;
  /** Which tools are exposed, and how. */
  readonly tools?: {
    /** Patterns of the tools to expose, by original name; * is any characters, ? is one. */
    readonly allow?: readonly string[] | undefined;
    /** Patterns of the tools to hide; stronger than allow. */
    readonly deny?: readonly string[] | undefined;
    /** Changes to single tools, by original name. */
    readonly overrides?: Readonly<Record<string, {
      /** The name under which the tool is listed, after the prefix. The original stays callable. */
      readonly alias?: string | undefined;
      /** Replaces the tool's description. */
      readonly description?: string | undefined;
      /** Replaces timeouts.callMs for this tool. */
      readonly timeoutMs?: number | undefined;
      /** false hides the tool and refuses its calls. Default true. */
      readonly enabled?: boolean | undefined;
    }>> | undefined;
  } | undefined;
  /** Windsurf's and Roo's name for tools.deny. */
  readonly disabledTools?: readonly string[] | undefined;
}

/** Where the gateway listens and who may connect. */
export interface GatewaySettings {
  /** The interface to listen on. Default "127.0.0.1". */
  readonly host?: string | undefined;
  /** The port to listen on; 0 picks a free one. Default 3000. */
  readonly port?: number | undefined;
  /** Values of the Host header that are accepted besides loopback and the host above. */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Origins of web pages that may use the gateway and read its answers (CORS), besides pages on
   * this machine, which may not read them.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Who may connect. */
  readonly auth?: {
    /** Bearer tokens, any of which lets a client in. Empty: no token is asked for. */
    readonly tokens?: readonly string[] | undefined;
  } | undefined;
  /**
   * Listens with https instead of http. Paths are relative to the config's folder; ~ is the home
   * folder. Files that change are read again.
   */
  readonly tls?: {
    /** A file with the certificate in PEM, followed by those that it depends on. */
    readonly cert: string;
    /** A file with its private key in PEM, without a passphrase. */
    readonly key: string;
  } | undefined;
  /** Who may look after the gateway, and where. */
  readonly admin?: {
    /**
     * Bearer tokens that open /api, and everything else. Empty: /api is open where no token is
     * asked for at all, and closed otherwise.
     */
    readonly tokens?: readonly string[] | undefined;
    /** The interface for the API's own port; 127.0.0.1 where it is not given. */
    readonly host?: string | undefined;
    /**
     * A port of its own for /api and /metrics, which are then not served on the other; 0 picks a
     * free one.
     */
    readonly port?: number | undefined;
  } | undefined;
}

/** How tools are shown to clients. */
export interface ToolsSettings {
  /**
   * What tools/list shows: every tool, only the search tools, or "auto", which decides by
   * budgetTokens. Default "all".
   */
  readonly expose?: "all" | "search" | "auto" | undefined;
  /**
   * With "auto": how many tokens the definitions of all tools may take before search replaces them.
   * Default 20000.
   */
  readonly budgetTokens?: number | undefined;
}

/** The gateway's own tools. */
export interface MetaToolsSettings {
  /** The gateway's own tools that clients see. */
  readonly enabled?: readonly ("catalog_tools" | "describe_tool" | "search_tools" | "call_tool" | "catalog_prompts" | "describe_prompt" | "search_prompts" | "catalog_resources" | "describe_resource" | "search_resources" | "catalog_resource_templates" | "catalog_servers" | "goblin_health")[] | undefined;
}

/** The names of tools and prompts. */
export interface NamesSettings {
  /** Longer names are cut and given a short hash. Default 64. */
  readonly maxLength?: number | undefined;
}

/** How resources are shown to clients. */
export interface ResourcesSettings {
  /**
   * The form in which clients see resource URIs. Every form is accepted in every mode, a raw one if
   * no prefix claims it. Default "prefixed".
   */
  readonly uris?: "prefixed" | "flat" | "raw" | undefined;
}

/** How lists are paged. */
export interface ListsSettings {
  /** Entries in one page of a list. Default 1000. */
  readonly pageSize?: number | undefined;
}

/** What clients and servers may use up. */
export interface LimitsSettings {
  /** Resource subscriptions that one client may hold. Default 100. */
  readonly subscriptionsPerClient?: number | undefined;
  /**
   * Sessions that may be open at once, together with streams that clients without one hold open.
   * Default 10000.
   */
  readonly sessions?: number | undefined;
  /** A session without traffic for this long is closed. Default 1800000. */
  readonly sessionIdleMs?: number | undefined;
  /** The largest request body that is read. Default 4194304. */
  readonly bodyBytes?: number | undefined;
  /** The largest headers, all together, that one request may have. Default 16384. */
  readonly headerBytes?: number | undefined;
  /** The largest answer that is taken from a server. Default 67108864. */
  readonly resultBytes?: number | undefined;
  /**
   * What all lists of one server may take together; a list is cut where it is over. Default
   * 16777216.
   */
  readonly catalogBytes?: number | undefined;
  /**
   * The largest tool, prompt, resource or template that is taken from a server's list; a larger one
   * is left out. Default 1048576.
   */
  readonly definitionBytes?: number | undefined;
  /**
   * About how much one session may leave unread of all its streams and answers, or 4096 messages of
   * one stream; then the stream is cut and further large answers are refused. Also the most that
   * the answers of a batch may have together. A client that reads nothing of a large answer, or of
   * a full stream, for a minute is cut too. Default 67108864.
   */
  readonly unreadBytes?: number | undefined;
  /**
   * About how much may wait for a program that does not read its stdin; then its calls are refused.
   * Default 33554432.
   */
  readonly unsentBytes?: number | undefined;
  /** Calls that may run at once on one server. Default 256. */
  readonly inFlightPerServer?: number | undefined;
  /** Calls that may wait for one server before more are refused. Default 1024. */
  readonly queuePerServer?: number | undefined;
  /**
   * ConnectionPool (of a program: processes) for single clients that one server may have with share
   * "session". A call that would need one more is refused. Default 100.
   */
  readonly connectionsPerServer?: number | undefined;
  /** Calls that one session may have running at once. Default 256. */
  readonly inFlightPerSession?: number | undefined;
  /**
   * Messages that a client may send in one array, in the protocol version that has such. Default
   * 100.
   */
  readonly batchMessages?: number | undefined;
  /** Calls that one session may start in a second; 0: no limit. Default 0. */
  readonly callsPerSecond?: number | undefined;
  /**
   * Calls that may wait for answers to a server's questions, of clients without a session. Default
   * 10000.
   */
  readonly callsAwaitingInput?: number | undefined;
}

/** How long things may take. */
export interface TimeoutsSettings {
  /** To start or reach a server and finish its handshake. Default 30000. */
  readonly connectMs?: number | undefined;
  /**
   * For one call; progress from the server starts it anew, and it stands still while the client is
   * asked something. Default 60000.
   */
  readonly callMs?: number | undefined;
  /**
   * For one call in all, whatever its progress and questions; a longer timeoutMs of a server or
   * tool counts instead. Default 600000.
   */
  readonly maxCallMs?: number | undefined;
  /**
   * For a client's request to arrive in full; one that is sent too slowly, or not to the end, is
   * cut. So is a stream of HTTP+SSE on which no session has begun by then. Default 60000.
   */
  readonly receiveMs?: number | undefined;
  /** How long running calls may finish when the gateway shuts down. Default 10000. */
  readonly drainMs?: number | undefined;
}

/** How servers that fail are treated. */
export interface BackendsSettings {
  /**
   * How long the tools of a server that is down stay listed while it reconnects. Default 300000.
   */
  readonly graceMs?: number | undefined;
}

/** What is logged, and how. */
export interface LogSettings {
  /** The least important level that is logged. Default "info". */
  readonly level?: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent" | undefined;
  /** "auto" is pretty on a terminal and JSON elsewhere. Default "auto". */
  readonly format?: "auto" | "json" | "pretty" | undefined;
  /**
   * A file that gets one line for each call. Relative to the config's folder; ~ is the home folder.
   */
  readonly audit?: string | undefined;
  /** Whether the audit lines contain the calls' arguments. Default false. */
  readonly auditArguments?: boolean | undefined;
}
