/**
 * Turns a server's entry, in any supported program's spelling, into its `ServerConfig`.
 *
 * Invariant: a `ServerConfig` has exactly one transport, absolute paths, and no reference to its
 * file. Contradictions in an entry are reported, never resolved by preferring one side.
 */
import { isAbsolute, resolve } from "node:path";
import type { ServerTransport } from "../../mcp/links/transport.ts";
import { type FailureContext, warnOfFailures } from "../likely-failures.ts";
import type { KeyPath } from "../problems/locate.ts";
import type { Report } from "../problems/report.ts";
import type { ServerConfig, ServerEntry, ServerToolsConfig, ToolOverride } from "../schema/server.ts";
import type { ServerAuth } from "../schema/server-auth.ts";
import { type MaskingConfig, sidesOf } from "../traffic/masking.ts";
import { type ResultsConfig, rulesFrom } from "../traffic/results.ts";
import { warnOfOpenCredentials, warnOfVisibleSecrets } from "../weak.ts";
import { type SecretPlace, secretTextsOf } from "./secret-texts.ts";
import { expandHome } from "./substitute.ts";

export interface NormaliseContext extends FailureContext {
  readonly folder: string;
  readonly home: string;
  /**
   * Several tokens are configured. Stdio and HTTP+SSE servers then default to one connection per
   * session: nothing on a shared one tells clients apart, and a process may keep one client's data.
   */
  readonly severalTokens: boolean;
  /** Clients need credentials, so that the gateway knows who calls. */
  readonly hasPrincipals: boolean;
  /** Whether every caller is the user of this machine. */
  readonly isLocalOnly: boolean;
  readonly readFile: ((path: string) => string) | undefined;
  /** For entries without their own. */
  readonly inheritEnv: boolean | readonly string[] | undefined;
  /** What becomes of results where an entry says nothing. Undefined: the config is not valid. */
  readonly results: ResultsConfig | undefined;
  readonly masking: MaskingConfig | undefined;
  /** The texts of all entries that are complete only when their server starts. */
  readonly secretPlaces: readonly SecretPlace[];
}

type Fields = { readonly id: string; readonly entry: ServerEntry; readonly path: KeyPath };

const SPOKEN = { auto: {}, legacy: { era: "legacy" }, modern: { era: "modern" } } as const;

/** Returns undefined if the entry contradicts itself; the report then says why. */
export function normaliseServer(fields: Fields, context: NormaliseContext): ServerConfig | undefined {
  const { id, entry, path } = fields;
  const transport = normaliseTransport(fields, context);
  if (entry.enabled !== undefined && entry.enabled === entry.disabled) {
    context.report.error([...path, "disabled"], "contradicts enabled; keep one", { at: "key" });
  }
  const tools = normaliseTools(fields, context);
  if (transport === undefined) return undefined;
  const hasSecretUrl = context.secretPlaces.some((place) => isUrlOf(path, place));
  const auth = hasSecretUrl ? undefined : normaliseAuth(transport, fields, context.report);
  const isLocal = context.isLocalOnly && (auth?.grant ?? "authorization_code") === "authorization_code";
  if (auth?.as === "caller" && !context.hasPrincipals && !isLocal) {
    const problem = 'needs "gateway.auth": without it, callers cannot be told apart';
    context.report.error([...path, "auth", "as"], problem, { at: "key" });
  }
  const secretTexts = secretTextsOf({ path, transport, home: context.home }, context.secretPlaces);
  const masking = context.masking && sidesOf(context.masking, entry.masking);
  warnUnused(transport, fields, context.report);
  if (isEnabled(entry)) {
    warnOfOpenCredentials(transport, path, context.report);
    warnOfVisibleSecrets({ transport, texts: secretTexts }, path, context.report);
    warnOfFailures(transport, path, context);
  }
  return {
    id,
    transport,
    ...(secretTexts.length > 0 && { secretTexts }),
    enabled: isEnabled(entry),
    prefix: entry.prefix ?? defaultPrefix(id),
    share: entry.share ?? (context.severalTokens && !tellsApart(transport) ? "session" : "auto"),
    ...SPOKEN[entry.era],
    ...(entry.timeoutMs === undefined ? {} : { timeoutMs: entry.timeoutMs }),
    ...(entry.expose === undefined ? {} : { expose: entry.expose }),
    tools,
    ...(masking && { masking }),
    ...(auth === undefined ? {} : { auth }),
  };
}

/** What does not fit together, by the key that is wrong. */
function contradictions(auth: ServerAuth): [string, string][] {
  const { clientId, clientSecret, privateKey, keyId, as, grant, issuer, idp } = auth;
  const isOnBehalf = grant === "token_exchange" || grant === "on_behalf_of" || grant === "id_jag";
  const problems: [string, string][] = [];
  if (isOnBehalf && as !== "caller") problems.push(["grant", 'needs "as": "caller"']);
  if (isOnBehalf && issuer === undefined) {
    problems.push(["grant", "needs an issuer: the server must not decide who gets the caller's token"]);
  }
  const hasSecret = (clientSecret ?? privateKey) !== undefined;
  if (grant === "client_credentials" && hasSecret && issuer === undefined) {
    const key = privateKey === undefined ? "clientSecret" : "privateKey";
    const problem = `needs "issuer", the URL of the authorization server: the server must not decide who gets the ${key}`;
    problems.push(["grant", problem]);
  }
  if (grant === "client_credentials" && as === "caller") problems.push(["grant", 'contradicts "as": "caller"']);
  if ((grant === "id_jag") !== (idp !== undefined)) {
    problems.push(grant === "id_jag" ? ["grant", "needs idp"] : ["idp", 'has no effect without "grant": "id_jag"']);
  }
  if (clientSecret !== undefined && clientId === undefined) problems.push(["clientSecret", "needs a clientId"]);
  if (privateKey !== undefined && clientId === undefined) problems.push(["privateKey", "needs a clientId"]);
  if (privateKey !== undefined && clientSecret !== undefined) {
    problems.push(["privateKey", "contradicts clientSecret; keep one"]);
  }
  if (keyId !== undefined && privateKey === undefined) problems.push(["keyId", "needs a privateKey"]);
  if (grant !== undefined && grant !== "authorization_code" && !hasSecret) {
    problems.push(["grant", "needs a clientId, and a clientSecret or a privateKey"]);
  }
  return problems;
}

/** Returns undefined if the server never needs a login. */
function normaliseAuth(transport: ServerTransport, { entry, path }: Fields, report: Report): ServerAuth | undefined {
  const { CLIENT_ID, CLIENT_SECRET, ...own } = entry.auth;
  const clientId = own.clientId ?? CLIENT_ID;
  const clientSecret = own.clientSecret ?? CLIENT_SECRET;
  const auth = {
    ...own,
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
  };
  const isSet = auth.type === "oauth" || auth.clientId !== undefined || auth.issuer !== undefined;
  for (const [key, problem] of contradictions(auth)) report.error([...path, "auth", key], problem, { at: "key" });
  if (transport.kind === "stdio") {
    if (isSet) report.warn([...path, "auth"], "ignored: a server with a command has no login", { at: "key" });
    return undefined;
  }
  const hasKey = Object.keys(transport.headers).some((name) => name.toLowerCase() === "authorization");
  if (hasKey && isSet) {
    report.error([...path, "auth"], "contradicts the header Authorization; keep one", { at: "key" });
  }
  return hasKey || auth.type === "none" ? undefined : auth;
}

/**
 * Resolves a path of the config: `~` is the home folder; relative paths start from the config's
 * folder.
 */
export function resolvePath(path: string, context: { readonly folder: string; readonly home: string }): string {
  return resolve(context.folder, expandHome(path, context.home));
}

/** Whether messages of the server come on streams of their requests. */
function tellsApart({ kind }: ServerTransport): boolean {
  return kind !== "stdio" && kind !== "sse";
}

/** Replaces the characters that an id may contain but a tool name may not. */
export function defaultPrefix(id: string): string {
  return `${id.replace(/[^A-Za-z0-9_.-]/g, "_")}_`;
}

function normaliseTransport({ entry, path }: Fields, context: NormaliseContext): ServerTransport | undefined {
  const { report } = context;
  const url = entry.url ?? entry.serverUrl;
  const type = entry.type ?? entry.transportType;
  if (entry.url !== undefined && entry.serverUrl !== undefined) {
    report.error([...path, "serverUrl"], "url and serverUrl are the same key; keep one", { at: "key" });
  }
  if (entry.type !== undefined && entry.transportType !== undefined && entry.type !== entry.transportType) {
    report.error([...path, "transportType"], "type and transportType are the same key; keep one", { at: "key" });
  }
  if (entry.command !== undefined && url !== undefined) {
    report.error(path, "has both a command and a url; keep one", { at: "key" });
    return undefined;
  }
  if (entry.command !== undefined) {
    if (type !== undefined && type !== "stdio") {
      report.error(
        [...path, entry.type === undefined ? "transportType" : "type"],
        'a server with a command is "stdio"',
      );
    }
    const inheritEnv = entry.inheritEnv ?? context.inheritEnv;
    return {
      kind: "stdio",
      command: resolveCommand(entry.command, context),
      args: entry.args.map((argument) => expandHome(argument, context.home)),
      env: Object.fromEntries(Object.entries(entry.env).map(([name, value]) => [name, String(value)])),
      ...envFileOf(entry, path, context),
      cwd: resolvePath(entry.cwd ?? ".", context),
      ...(inheritEnv !== undefined && { inheritEnv }),
    };
  }
  if (url === undefined) {
    report.error(path, type === undefined || type === "stdio" ? "needs a command or a url" : "needs a url", {
      at: "key",
    });
    return undefined;
  }
  if (type === "stdio") {
    report.error([...path, entry.type === undefined ? "transportType" : "type"], 'a server with a url is not "stdio"');
  }
  if (type === "sse" && entry.era === "modern") {
    report.error([...path, "era"], 'a server over sse is "legacy"; leave era out, or set type to "http"');
  }
  if (!context.secretPlaces.some((place) => isUrlOf(path, place))) {
    checkUrl(url, [...path, entry.url === undefined ? "serverUrl" : "url"], report);
  }
  return { kind: type === undefined ? "auto" : type === "sse" ? "sse" : "http", url, headers: entry.headers };
}

function isUrlOf(entry: KeyPath, { path }: SecretPlace): boolean {
  const [section, id, key] = path;
  return section === entry[0] && id === entry[1] && (key === "url" || key === "serverUrl");
}

function checkUrl(url: string, path: KeyPath, report: Report): void {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    report.error(path, "not a valid http:// or https:// URL");
    return;
  }
  const { username, password } = new URL(url);
  if (username + password !== "") report.error(path, "must not contain a user name or password; use headers");
}

/**
 * Warns about keys that the transport does not use. Some programs always write them, so they are
 * not an error, but a user may rely on them.
 */
function warnUnused(transport: ServerTransport, { entry, path }: Fields, report: Report): void {
  const [keys, reason] =
    transport.kind === "stdio"
      ? ([["headers"], "ignored: a server with a command has no headers"] as const)
      : ([["args", "env", "envFile", "inheritEnv", "cwd"], "ignored: only a server with a command has this"] as const);
  for (const key of keys) {
    if (Object.keys(entry[key] ?? {}).length > 0) report.warn([...path, key], reason, { at: "key" });
  }
}

/** Resolves explicit paths only; the system looks up a bare name in PATH. */
function resolveCommand(command: string, context: NormaliseContext): string {
  const expanded = expandHome(command, context.home);
  return /^\.{1,2}[/\\]/.test(expanded) && !isAbsolute(expanded) ? resolve(context.folder, expanded) : expanded;
}

/** The file is read again when the server starts. */
function envFileOf(entry: ServerEntry, path: KeyPath, context: NormaliseContext): { readonly envFile?: string } {
  if (entry.envFile === undefined || !isEnabled(entry)) return {};
  const envFile = resolvePath(entry.envFile, context);
  try {
    if (context.readFile === undefined) throw new Error("no files can be read here");
    context.readFile(envFile);
  } catch {
    context.report.error([...path, "envFile"], `the file ${envFile} cannot be read`);
  }
  return { envFile };
}

function isEnabled(entry: ServerEntry): boolean {
  return entry.enabled ?? !entry.disabled;
}

function normaliseTools({ entry, path }: Fields, { report, results }: NormaliseContext): ServerToolsConfig {
  const { allow, deny } = entry.tools;
  const aliases = new Set<string>();
  for (const [name, { alias }] of Object.entries(entry.tools.overrides)) {
    if (alias === undefined) continue;
    if (aliases.has(alias)) report.error([...path, "tools", "overrides", name, "alias"], "two tools have this alias");
    aliases.add(alias);
  }
  // No prototype, so that a lookup of a tool named "constructor" finds nothing.
  const overrides = Object.create(null) as Record<string, ToolOverride>;
  const rules = results && rulesFrom(results);
  for (const [name, { results: own, ...override }] of Object.entries(entry.tools.overrides)) {
    const ofTool = own && results ? rulesFrom(results, own) : rules;
    overrides[name] = { ...override, ...(ofTool && { results: ofTool }) };
  }
  return { allow, deny: [...deny, ...entry.disabledTools], overrides, ...(rules && { results: rules }) };
}
