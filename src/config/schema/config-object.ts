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
  /** The address of the JSON Schema, for editors. */
  readonly $schema?: string | undefined;
  /** VS Code's inputs: what ${input:some-id} is asked for once. See [secrets](secrets.md). */
  readonly inputs?: readonly {
    readonly id: string;
    readonly [key: string]: unknown;
  }[] | undefined;
  /** Where the gateway listens and who may connect. */
  readonly gateway?: GatewaySettings | undefined;
  /** Parts of what the gateway offers, each at /mcp/p/<name> ([access](access.md#profiles)). */
  readonly profiles?: Readonly<Record<string, {
    /** Ids of servers; `*` stands for any characters. */
    readonly servers?: readonly string[] | undefined;
    /**
     * Patterns for the servers' own names of tools, `server/name`, or @readOnly, @destructive,
     * @idempotent, @openWorld.
     */
    readonly tools?: {
      /** Patterns of the tools to show. */
      readonly allow?: readonly string[] | undefined;
      /** Patterns of tools to hide; deny wins over allow. */
      readonly deny?: readonly string[] | undefined;
    } | undefined;
    /** Patterns for the servers' own names of prompts. */
    readonly prompts?: {
      /** Patterns of the prompts to show. */
      readonly allow?: readonly string[] | undefined;
      /** Patterns of prompts to hide; deny wins over allow. */
      readonly deny?: readonly string[] | undefined;
    } | undefined;
    /** Patterns for the servers' own URIs of resources and templates. */
    readonly resources?: {
      /** Patterns of the resources to show. */
      readonly allow?: readonly string[] | undefined;
      /** Patterns of resources to hide; deny wins over allow. */
      readonly deny?: readonly string[] | undefined;
    } | undefined;
    /** Replaces `tools.expose` in this profile. */
    readonly expose?: "all" | "search" | "auto" | undefined;
  }>> | undefined;
  /** How Goblin introduces itself when it logs in to servers. */
  readonly oauth?: OauthSettings | undefined;
  /** How tools are shown to clients. */
  readonly tools?: ToolsSettings | undefined;
  /** How tools are listed to single clients ([meta tools](meta-tools.md#by-client)). */
  readonly clients?: Readonly<Record<string, {
    /** Replaces tools.expose for these clients. */
    readonly expose?: "all" | "search" | "auto" | undefined;
    /**
     * Tools that are always listed to them, by listed name. Clients that search load them at once.
     */
    readonly pinned?: readonly string[] | undefined;
    /** With "auto": whether they search their tools themselves, so that all can be listed. */
    readonly searchesTools?: boolean | undefined;
    /** With "auto": the most tools that they take. */
    readonly maxTools?: number | undefined;
    /** With "auto": the longest name of a tool that they take. */
    readonly maxNameLength?: number | undefined;
  }>> | undefined;
  /** The gateway's own tools. */
  readonly metaTools?: MetaToolsSettings | undefined;
  /** The names of tools and prompts. */
  readonly names?: NamesSettings | undefined;
  /** How resources are shown to clients. */
  readonly resources?: ResourcesSettings | undefined;
  /** Who may use what ([policy](policy.md)). */
  readonly policy?: PolicySettings | undefined;
  /** How people answer for calls that a rule asks about ([approvals](approvals.md)). */
  readonly approvals?: ApprovalsSettings | undefined;
  /** What servers may change without approval ([lock](lock.md)). */
  readonly lock?: LockSettings | undefined;
  /** What becomes of tools' results ([results](results.md)). */
  readonly results?: ResultsSettings | undefined;
  /** Where keys and tokens are masked ([masking](masking.md)). */
  readonly masking?: MaskingSettings | undefined;
  /** How lists are made and served ([lists](lists.md)). */
  readonly lists?: ListsSettings | undefined;
  /** Limits on what clients and servers may use. */
  readonly limits?: LimitsSettings | undefined;
  /** Timeouts, in milliseconds. */
  readonly timeouts?: TimeoutsSettings | undefined;
  /** How Goblin treats failing servers. */
  readonly backends?: BackendsSettings | undefined;
  /** What is kept of calls. Only the API's users see it. */
  readonly calls?: CallsSettings | undefined;
  /**
   * Records the messages of clients and servers to files ([recordings](recordings.md)). Default:
   * off.
   */
  readonly record?: RecordSettings | undefined;
  /** The log and the audit file. */
  readonly log?: LogSettings | undefined;
  /** Traces and metrics for OpenTelemetry ([metrics](metrics.md#opentelemetry)). */
  readonly otel?: OtelSettings | undefined;
  /** Several gateways behind one address ([scaling](scaling.md)). */
  readonly cluster?: ClusterSettings | undefined;
  /** Where goblin search and goblin add look ([servers](servers.md)). */
  readonly registry?: RegistrySettings | undefined;
}

/** A server's entry under `mcpServers`. */
export interface ServerObject {
  /**
   * How to reach the server. Default: stdio for a command; for a url, http with a fallback to sse.
   */
  readonly type?: "stdio" | "http" | "streamable-http" | "streamableHttp" | "sse" | undefined;
  /** The program to start. ./x is relative to the config's folder; ~ is the home folder. */
  readonly command?: string | undefined;
  /** The program's arguments. A leading ~ is the home folder. */
  readonly args?: readonly string[] | undefined;
  /** Environment variables for the program; they take precedence over inherited ones. */
  readonly env?: Readonly<Record<string, string | number | boolean>> | undefined;
  /**
   * What the program gets of Goblin's environment: true is everything, false the minimum, a list of
   * names and patterns (*) these besides the usual ones (see below). Default: backends.inheritEnv,
   * or else the usual ones.
   */
  readonly inheritEnv?: boolean | readonly string[] | undefined;
  /** A file of NAME=value lines for the program's environment; env takes precedence. */
  readonly envFile?: string | undefined;
  /** The program's working directory, relative to the config's folder. */
  readonly cwd?: string | undefined;
  /** The address of a remote server. */
  readonly url?: string | undefined;
  /** HTTP headers for a remote server. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How to log in to a remote server that asks for OAuth. "oauth" alone means { "type": "oauth" }.
   * See [logins](logins.md).
   */
  readonly auth?: {
    /**
     * "auto": a login is used if the server asks for one. "oauth": the server needs one, even if it
     * does not ask properly. "none": never. Default "auto".
     */
    readonly type?: "auto" | "oauth" | "none" | undefined;
    /** The client id that the authorization server gave you. Default: Goblin registers itself. */
    readonly clientId?: string | undefined;
    /** Its secret, if it has one. */
    readonly clientSecret?: string | undefined;
    /**
     * A private key in PEM form in place of the secret (private_key_jwt): RSA, P-256 or Ed25519.
     */
    readonly privateKey?: string | undefined;
    /** The id that the authorization server knows the key by. */
    readonly keyId?: string | undefined;
    /**
     * Whose login the server gets. "gateway", the default: one login serves all clients. "caller":
     * each principal of gateway.auth has its own, or the user of this machine if nobody else can
     * reach the gateway.
     */
    readonly as?: "gateway" | "caller" | undefined;
    /**
     * How Goblin gets tokens. "authorization_code", the default: somebody logs in.
     * "client_credentials": by itself, with clientId and clientSecret or privateKey. The others are
     * for as: "caller", with the access token that the caller came with: "token_exchange" (RFC
     * 8693) and "on_behalf_of" (Entra) at the issuer, "id_jag" by way of idp.
     */
    readonly grant?: "authorization_code" | "client_credentials" | "token_exchange" | "on_behalf_of" | "id_jag" | undefined;
    /** For "id_jag": where callers come from, and who Goblin is there. */
    readonly idp?: {
      /** The identity provider, an issuer of gateway.auth.oauth. */
      readonly issuer: string;
      /** Goblin's client id there. */
      readonly clientId: string;
      /** Its secret. */
      readonly clientSecret?: string | undefined;
    } | undefined;
    /** The scopes to ask for. Default: those that the server names. */
    readonly scopes?: readonly string[] | undefined;
    /**
     * The resource that tokens are asked for. "auto": as the server's metadata says. false: none,
     * for providers that reject the parameter. Default "auto".
     */
    readonly resource?: "auto" | false | string | undefined;
    /**
     * The authorization server. Only this one gets the clientSecret or privateKey. Default: the one
     * that the server names at the first login; another one later needs a confirmation with "goblin
     * login". Required for every grant but "authorization_code".
     */
    readonly issuer?: string | undefined;
    /** The port of the redirect to http://127.0.0.1:<port>/callback. Default: a free one. */
    readonly callbackPort?: number | undefined;
  } | undefined;
  /** false: the server is neither started nor listed. Default true. */
  readonly enabled?: boolean | undefined;
  /**
   * The text before its names. Names that begin with it belong to this server alone. Default: the
   * id and "_". "" exposes the original names.
   */
  readonly prefix?: string | undefined;
  /**
   * "auto": one connection for all clients, until the server must tell them apart. "all": one for
   * all clients. "session": one per client session (see below). Default: "auto", but "session" for
   * a stdio or HTTP+SSE server when gateway.auth may admit two or more different clients.
   */
  readonly share?: "auto" | "all" | "session" | undefined;
  /**
   * Which protocol versions the gateway speaks with the server. "legacy": those with a handshake,
   * up to 2025-11-25. "modern": 2026-07-28. "auto": what the server speaks; a server over HTTP that
   * speaks both gets each client in the client's own. Default "auto".
   */
  readonly era?: "auto" | "legacy" | "modern" | undefined;
  /** Replaces timeouts.callMs for this server. */
  readonly timeoutMs?: number | undefined;
  /** Replaces tools.expose for this server. */
  readonly expose?: "all" | "search" | {
    /** The tools that stay listed. */
    readonly pinned: readonly string[];
  } | undefined;
  /** Which tools are exposed, and how. */
  readonly tools?: {
    /** Patterns of tools to expose, by original name; * matches any characters, ? matches one. */
    readonly allow?: readonly string[] | undefined;
    /** Patterns of tools to hide; deny wins over allow. */
    readonly deny?: readonly string[] | undefined;
    /** Settings for individual tools, by original name. */
    readonly overrides?: Readonly<Record<string, {
      /** The tool's listed name, after the prefix. The original name stays callable. */
      readonly alias?: string | undefined;
      /** Replaces the tool's description. */
      readonly description?: string | undefined;
      /** Replaces timeouts.callMs for this tool. */
      readonly timeoutMs?: number | undefined;
      /**
       * What becomes of its results; see [results](results.md). Replaces the section results, key
       * by key.
       */
      readonly results?: {
        /** Replaces results.over. */
        readonly over?: "pass" | "spill" | "cut" | "error" | undefined;
        /** Replaces results.maxTokens. */
        readonly maxTokens?: number | undefined;
        /** The fields of JSON results that are kept, such as "items[].{id,title}"; [] keeps all. */
        readonly pick?: readonly string[] | undefined;
        /** The fields of JSON results that are left out, such as "**.html". */
        readonly drop?: readonly string[] | undefined;
      } | undefined;
    }>> | undefined;
  } | undefined;
  /**
   * Where keys and tokens are masked; see [masking](masking.md). Replaces the section masking, key
   * by key.
   */
  readonly masking?: {
    /** Replaces masking.arguments. */
    readonly arguments?: boolean | undefined;
    /** Replaces masking.results. */
    readonly results?: boolean | undefined;
  } | undefined;
}

/** Where the gateway listens and who may connect. */
export interface GatewaySettings {
  /** The interface to listen on. Default "127.0.0.1". */
  readonly host?: string | undefined;
  /** The port to listen on; 0 picks a free one. Default 3000. */
  readonly port?: number | undefined;
  /** Accepted values of the Host header, in addition to loopback and gateway.host. */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Origins of web pages that may use the gateway and read its answers (CORS). Pages on this
   * machine may send requests, but not read the answers, unless listed.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Addresses of reverse proxies, such as 10.0.0.0/8 or ::1. Their X-Forwarded-For or Forwarded
   * header says where a request comes from, for limits and the log. The headers of all others are
   * ignored.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * The URL that clients reach the gateway at, without the path of an endpoint, if a proxy is in
   * front of it.
   */
  readonly publicUrl?: string | undefined;
  /** Who may connect. */
  readonly auth?: {
    /** Bearer tokens for clients; any one of them is accepted. Empty: no token is needed. */
    readonly tokens?: readonly string[] | undefined;
    /**
     * Named tokens: sessions, limits and the audit file belong to the name, and survive a new
     * token.
     */
    readonly clients?: Readonly<Record<string, {
      /** The client's bearer token. */
      readonly token?: string | undefined;
      /** The SHA-256 of the token, in place of the token: `goblin token new <name>` makes both. */
      readonly hash?: string | undefined;
      /** When the token ends: it is refused from then on. A date means its beginning, in UTC. */
      readonly expires?: string | undefined;
      /** Whether the token also opens /api. Default false. */
      readonly admin?: boolean | undefined;
      /**
       * The profile, or a list of them, that the token is limited to. Default: it is not limited.
       */
      readonly profile?: string | readonly string[] | undefined;
    }>> | undefined;
    /** Accepts OAuth 2.1 access tokens, and tells clients where to get one. */
    readonly oauth?: {
      /** The issuers whose access tokens are accepted. */
      readonly issuers: readonly ({
        /** The issuer, exactly as its tokens and its metadata name it. */
        readonly issuer: string;
        /** Accepted audiences of a token. Empty: gateway.publicUrl, with and without /mcp. */
        readonly audience?: readonly string[] | undefined;
        /** The address of the issuer's keys. Default: from the issuer's metadata. */
        readonly jwksUri?: string | undefined;
        /** Accepted signature algorithms. */
        readonly algorithms?: readonly ("RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "ES256" | "ES384" | "ES512" | "EdDSA" | "Ed25519")[] | undefined;
        /** Scopes that every token must have. */
        readonly requiredScopes?: readonly string[] | undefined;
        /**
         * The claim that holds the groups; dots lead into nested claims. Default: groups, roles and
         * realm_access.roles.
         */
        readonly groups?: string | undefined;
        /**
         * Lets the gateway ask the issuer about tokens that are not JWTs (RFC 7662). One issuer may
         * have it.
         */
        readonly introspect?: {
          /** Default: from the issuer's metadata. */
          readonly endpoint?: string | undefined;
          /** The gateway's own client id at the issuer. */
          readonly clientId: string;
          /** Its secret. */
          readonly clientSecret: string;
        } | undefined;
        /**
         * Lets people show with a login at the issuer that a [link of the gateway](logins.md) is
         * theirs. Without it, they must enter the token of their client. Register the redirect URL
         * `<gateway.publicUrl>/connect/identity`.
         */
        readonly login?: {
          /** The gateway's own client id at the issuer. */
          readonly clientId: string;
          /** Its secret, if it has one. */
          readonly clientSecret?: string | undefined;
          /** The scopes to ask for. Default: requiredScopes. */
          readonly scopes?: readonly string[] | undefined;
          /**
           * The resource that the token is asked for. "auto": the main endpoint of the gateway.
           * false: none, for providers that reject the parameter. Default "auto".
           */
          readonly resource?: "auto" | false | string | undefined;
        } | undefined;
      })[];
      /** The scope that opens /api. Default: no access token does. */
      readonly adminScope?: string | undefined;
      /**
       * Who has which profile. If set, an access token that has none is refused. Default: all see
       * all.
       */
      readonly profiles?: Readonly<Record<string, {
        /** Scopes; a token needs one of them, or of the groups. */
        readonly scopes?: readonly string[] | undefined;
        /** Groups. */
        readonly groups?: readonly string[] | undefined;
      }>> | undefined;
    } | undefined;
    /**
     * Lets OAuth clients in with a code that `goblin pair` prints ([pairing](pairing.md)). Needs
     * gateway.publicUrl. Default false.
     */
    readonly pairing?: boolean | undefined;
  } | undefined;
  /**
   * Serves https instead of http. Paths are relative to the config's folder; ~ is the home folder.
   * Goblin reloads the files when they change.
   */
  readonly tls?: {
    /** A PEM file with the certificate, followed by its intermediate certificates. */
    readonly cert: string;
    /** A PEM file with the certificate's private key, without a passphrase. */
    readonly key: string;
  } | undefined;
  /** Who may administer the gateway, and on which port. */
  readonly admin?: {
    /**
     * Bearer tokens for /api; they open every other route too. Empty: /api is closed if
     * gateway.auth is set, except to its admins, and open otherwise.
     */
    readonly tokens?: readonly string[] | undefined;
    /** The interface for gateway.admin.port. Default: 127.0.0.1. */
    readonly host?: string | undefined;
    /**
     * A separate port for /api and /metrics, which gateway.port then no longer serves; 0 picks a
     * free one.
     */
    readonly port?: number | undefined;
  } | undefined;
}

/** How Goblin introduces itself when it logs in to servers. */
export interface OauthSettings {
  /**
   * The address of a client metadata document that describes this gateway, for authorization
   * servers that accept one.
   */
  readonly clientMetadataUrl?: string | undefined;
}

/** How tools are shown to clients. */
export interface ToolsSettings {
  /**
   * What tools/list shows: "all" tools; only the meta tools ("search"); or "auto", which decides
   * for each client, by what is known of it and by whether all definitions fit into 20,000 tokens
   * ([meta tools](meta-tools.md#which-tools-are-listed)). Default "all".
   */
  readonly expose?: "all" | "search" | "auto" | undefined;
}

/** The gateway's own tools. */
export interface MetaToolsSettings {
  /**
   * The gateway's own tools that clients can see and call. Default: search_tools, describe_tool and
   * call_tool where some tools are not listed, and read_result. read_result is there only where
   * results may be kept ([results](results.md)).
   */
  readonly enabled?: readonly ("catalog_tools" | "describe_tool" | "search_tools" | "call_tool" | "catalog_prompts" | "describe_prompt" | "search_prompts" | "catalog_resources" | "describe_resource" | "search_resources" | "catalog_resource_templates" | "catalog_servers" | "goblin_health" | "read_result")[] | undefined;
}

/** The names of tools and prompts. */
export interface NamesSettings {
  /** Longer names are cut and end in a short hash. Default 64. */
  readonly maxLength?: number | undefined;
  /**
   * Whether a name that begins with its server's prefix gets it again: git_git_status for git's
   * git_status. Calls may use either name. Default true.
   */
  readonly repeatPrefix?: boolean | undefined;
}

/** How resources are shown to clients. */
export interface ResourcesSettings {
  /**
   * The form in which clients see resource URIs. Requests may use every form in every mode; a raw
   * URI only if no prefix claims it. The ids of "flat" are not URLs: clients that check URLs, such
   * as those with the Python SDK 1.x, reject the list. Default "prefixed".
   */
  readonly uris?: "prefixed" | "flat" | "raw" | undefined;
}

/** Who may use what ([policy](policy.md)). */
export interface PolicySettings {
  /** What holds for what no rule allows or denies. Default "allow". */
  readonly default?: "allow" | "deny" | undefined;
  /** The rules ([policy](policy.md)). */
  readonly rules?: readonly ({
    /** A name for the rule, for the audit file and goblin explain. */
    readonly id?: string | undefined;
    /**
     * Deny beats ask, and ask beats allow, whatever the order of the rules. With ask, a call waits
     * until a person allows it ([approvals](approvals.md)).
     */
    readonly effect: "allow" | "ask" | "deny";
    /** With allow: nobody is asked about what the rule matches, whatever other rules say. */
    readonly ask?: false | undefined;
    /** Told to a client whose call `when` refuses, and to the person who is asked. */
    readonly reason?: string | undefined;
    /** The servers, by id. Default: all, or the one that a pattern for tools or prompts names. */
    readonly server?: string | readonly string[] | undefined;
    /**
     * Tools by the names that their server gives them, as server/name, or by annotation: @readOnly,
     * @destructive, @idempotent, @openWorld.
     */
    readonly tools?: readonly string[] | undefined;
    /** Prompts by the names that their server gives them. */
    readonly prompts?: readonly string[] | undefined;
    /**
     * Resources and templates by their server's URIs. Without tools, prompts and resources, a rule
     * is about everything.
     */
    readonly resources?: readonly string[] | undefined;
    /** Whom the rule concerns; each list that is given must match. Default: everybody. */
    readonly who?: {
      /** Names of gateway.auth.clients, or an issuer and a subject with a space between. */
      readonly principals?: readonly string[] | undefined;
      /** Groups of the access token. */
      readonly groups?: readonly string[] | undefined;
      /**
       * OAuth clients by id, or names of gateway.auth.clients; oauth:<id> and token:<name> mean one
       * of these alone.
       */
      readonly clients?: readonly string[] | undefined;
      /** Scopes of the access token. */
      readonly scopes?: readonly string[] | undefined;
      /** Those that the rule does not concern. */
      readonly not?: {
        /** Names of gateway.auth.clients, or an issuer and a subject with a space between. */
        readonly principals?: readonly string[] | undefined;
        /** Groups of the access token. */
        readonly groups?: readonly string[] | undefined;
        /**
         * OAuth clients by id, or names of gateway.auth.clients; oauth:<id> and token:<name> mean
         * one of these alone.
         */
        readonly clients?: readonly string[] | undefined;
        /** Scopes of the access token. */
        readonly scopes?: readonly string[] | undefined;
      } | undefined;
    } | undefined;
    /**
     * A condition in CEL over args, who and tool. It is checked at each call; an error denies the
     * call, or asks.
     */
    readonly when?: string | undefined;
    /** Arguments that get this value, whatever the client sends. Clients do not see them. */
    readonly set?: Readonly<Record<string, unknown>> | undefined;
    /** Arguments that clients do not see, and that are removed if sent. */
    readonly hide?: readonly string[] | undefined;
  })[] | undefined;
}

/** How people answer for calls that a rule asks about ([approvals](approvals.md)). */
export interface ApprovalsSettings {
  /**
   * How long a call waits for an answer. Then it is refused, and its client is told not to try
   * again. Default 300000.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Clients whose own users may allow their calls, if the client can ask them: OAuth clients by id,
   * or names of gateway.auth.clients (oauth:<id> and token:<name> mean one of these alone); * means
   * all. Default: none.
   */
  readonly trustClients?: readonly string[] | undefined;
  /** Told of each call that waits, and how that ended. Default: nobody is told. */
  readonly webhook?: {
    /** Where to: https, or http on this machine. */
    readonly url: string;
    /** Signs each message. */
    readonly secret: string;
  } | undefined;
}

/** What servers may change without approval ([lock](lock.md)). */
export interface LockSettings {
  /**
   * "warn" compares what servers list with goblin.lock and reports every difference; "enforce" also
   * keeps changes from clients, as lock.strictness says. Default "off".
   */
  readonly mode?: "off" | "warn" | "enforce" | undefined;
  /**
   * The lock file. Relative to the config's folder; ~ is the home folder. Default: goblin.lock
   * beside the config.
   */
  readonly file?: string | undefined;
  /**
   * With "enforce", which changes wait for an approval ([lock](lock.md#strictness)). "default": new
   * tools, wider ones and new texts. "strict": also tools and parameters that are gone. "relaxed":
   * new and wider tools, and texts that look like an attack. Default "default".
   */
  readonly strictness?: "strict" | "default" | "relaxed" | undefined;
}

/** What becomes of tools' results ([results](results.md)). */
export interface ResultsSettings {
  /**
   * What becomes of a result that is longer than maxTokens: "pass" changes nothing; "spill" keeps
   * it and answers with a preview and a link; "cut" sends its beginning; "error" sends an error
   * instead. Default "pass".
   */
  readonly over?: "pass" | "spill" | "cut" | "error" | undefined;
  /** The longest result, in estimated tokens of its text. Default 20000. */
  readonly maxTokens?: number | undefined;
}

/** Where keys and tokens are masked ([masking](masking.md)). */
export interface MaskingSettings {
  /** Whether servers get arguments with keys and tokens masked. Default false. */
  readonly arguments?: boolean | undefined;
  /** Whether clients get results with keys and tokens masked. Default false. */
  readonly results?: boolean | undefined;
  /** Formats that are not masked. The gateway's own secrets always are. */
  readonly except?: readonly ("aws-access-key" | "github-token" | "gitlab-token" | "slack-token" | "slack-webhook" | "anthropic-key" | "openai-key" | "stripe-key" | "google-key" | "npm-token" | "pypi-token" | "huggingface-token" | "sendgrid-key" | "goblin-token" | "jwt" | "private-key" | "bearer-token")[] | undefined;
}

/** How lists are made and served ([lists](lists.md)). */
export interface ListsSettings {
  /**
   * "sorted" by name, or "server": by server, in the order of the config, each in its own order.
   * Default "sorted".
   */
  readonly order?: "sorted" | "server" | undefined;
}

/** Limits on what clients and servers may use. */
export interface LimitsSettings {
  /**
   * Open sessions, plus open streams of clients without a session. One account may hold half of
   * what the others leave. Default 10000.
   */
  readonly sessions?: number | undefined;
  /** Idle time after which a session is closed. Default 1800000. */
  readonly sessionIdleMs?: number | undefined;
  /**
   * The largest accepted request body. Of large bodies, one token or address may have 16 times as
   * much under way. Default 4194304.
   */
  readonly bodyBytes?: number | undefined;
  /**
   * Concurrent calls per server; further calls are queued, and accounts take turns. One account may
   * hold half of what the others leave. Default 256.
   */
  readonly inFlightPerServer?: number | undefined;
  /**
   * Connections (for a stdio server, processes) per server with share "session". A call that needs
   * one more is rejected. One account may hold half of what the others leave. Default 100.
   */
  readonly connectionsPerServer?: number | undefined;
  /**
   * Calls per second and session, or account for clients without a session; 0 means no limit.
   * Default 0.
   */
  readonly callsPerSecond?: number | undefined;
}

/** Timeouts, in milliseconds. */
export interface TimeoutsSettings {
  /** To reach a server, or start one again, and complete its handshake. Default 30000. */
  readonly connectMs?: number | undefined;
  /**
   * For one call. Progress from the server restarts it; it is paused while the server waits for an
   * answer from the client. Default 60000.
   */
  readonly callMs?: number | undefined;
  /**
   * For one call in total, including progress and questions. A longer timeoutMs of a server or tool
   * takes precedence. Default 600000.
   */
  readonly maxCallMs?: number | undefined;
  /** For running calls to finish when the gateway shuts down. Default 10000. */
  readonly drainMs?: number | undefined;
}

/** How Goblin treats failing servers. */
export interface BackendsSettings {
  /** What programs get of Goblin's environment; see inheritEnv of a server's entry. */
  readonly inheritEnv?: boolean | readonly string[] | undefined;
}

/** What is kept of calls. Only the API's users see it. */
export interface CallsSettings {
  /**
   * The newest calls that are kept in memory with their arguments and answers, for the dashboard; 0
   * keeps none. Default 500.
   */
  readonly keep?: number | undefined;
}

/**
 * Records the messages of clients and servers to files ([recordings](recordings.md)). Default: off.
 */
export interface RecordSettings {
  /**
   * The folder of the recordings. Relative to the config's folder; ~ is the home folder. Default:
   * "recordings" in the state folder.
   */
  readonly dir?: string | undefined;
  /**
   * Patterns of the servers whose messages are recorded; with *, also requests that go to no
   * server.
   */
  readonly servers?: readonly string[] | undefined;
  /**
   * The size of all recordings in the folder together; the oldest part goes first. Default
   * 67108864.
   */
  readonly maxBytes?: number | undefined;
  /** Whether the messages themselves are recorded, or only their sizes. Default true. */
  readonly bodies?: boolean | undefined;
}

/** The log and the audit file. */
export interface LogSettings {
  /** The minimum level to log. Default "info". */
  readonly level?: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent" | undefined;
  /** "auto" is pretty on a terminal and JSON elsewhere. Default "auto". */
  readonly format?: "auto" | "json" | "pretty" | undefined;
  /** A file that gets one line per call. Relative to the config's folder; ~ is the home folder. */
  readonly audit?: string | undefined;
  /** Whether audit lines contain the arguments of calls. Default false. */
  readonly auditArguments?: boolean | undefined;
}

/** Traces and metrics for OpenTelemetry ([metrics](metrics.md#opentelemetry)). */
export interface OtelSettings {
  /**
   * The OTLP/HTTP address of a collector, such as http://127.0.0.1:4318. Default:
   * $OTEL_EXPORTER_OTLP_ENDPOINT; without either, nothing is measured or sent.
   */
  readonly endpoint?: string | undefined;
  /**
   * The share of calls that are traced. A client's own decision in its trace context comes first.
   * Default 1.
   */
  readonly sample?: number | undefined;
  /**
   * Whether spans contain the arguments and results of tools, with secrets masked and cut to 4096
   * characters. Default false.
   */
  readonly arguments?: boolean | undefined;
}

/** Several gateways behind one address ([scaling](scaling.md)). */
export interface ClusterSettings {
  /** What all replicas share and nobody else knows. Default: $GOBLIN_SECRET. */
  readonly secret?: string | undefined;
  /**
   * Where this replica takes requests for its sessions from other replicas, such as 10.0.0.5:3001;
   * port 0 picks a free one. Not set: every replica serves every session by itself.
   */
  readonly listen?: string | undefined;
  /**
   * What other replicas reach cluster.listen at. Default: the same. Needed where that is 0.0.0.0 or
   * [::].
   */
  readonly address?: string | undefined;
  /**
   * A Redis or Valkey that all replicas use: sessions of a replica that ends go on with their
   * subscriptions, and stay ended once ended; logins, pairing and common limits are shared. It may
   * hold a user and a password. rediss:// means TLS; redis+sentinel://host:26379,host/name and
   * redis+cluster://host,host name a set behind Sentinel and a Redis Cluster.
   */
  readonly redis?: string | undefined;
  /**
   * How long another replica may be silent before requests for its sessions are answered with an
   * error. Default 5000.
   */
  readonly timeoutMs?: number | undefined;
}

/** Where goblin search and goblin add look ([servers](servers.md)). */
export interface RegistrySettings {
  /** The addresses of MCP registries. The first that has a server of a name is believed. */
  readonly urls?: readonly string[] | undefined;
}
