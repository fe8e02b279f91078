/**
 * Turns a config's text into a `Config`, or throws the full list of its problems.
 *
 * Pure: the caller passes the environment, the folder and a reader for `envFile`. A config with a
 * problem outside of the servers' entries is rejected as a whole; a bad entry only makes its own
 * server unusable. Warnings list the keys that were ignored on purpose.
 */

import { homedir } from "node:os";
import { resolve } from "node:path";
import { getNodeValue, type Node } from "jsonc-parser";
import { withTokensMeant } from "../../policy/who.ts";
import { configFolder } from "../dialects/dialects.ts";
import { foreignKey } from "../dialects/foreign-keys.ts";
import { translate } from "../dialects/translate.ts";
import { withFixed } from "../fixed.ts";
import type { Probe } from "../likely-failures.ts";
import { isLocalOnly } from "../local-only.ts";
import { reportPolicy } from "../policy/report.ts";
import { reportIssue } from "../problems/issue.ts";
import type { KeyPath } from "../problems/locate.ts";
import { ConfigError, type Problem } from "../problems/problem.ts";
import { createReport, type Report } from "../problems/report.ts";
import { type Config, type ConfigFile, configFileSchema } from "../schema/config.ts";
import type { ServerConfig } from "../schema/server.ts";
import type { GatewayConfig } from "../schema/settings.ts";
import { keysAt, plainTypeAt } from "../schema/shape.ts";
import { inputDefinitions } from "../secret-reference.ts";
import { warnOfWeakTokens } from "../weak.ts";
import { parseSyntax, propertiesOf, readValue } from "./document.ts";
import { type NormaliseContext, resolvePath } from "./normalise.ts";
import { otherSyntax } from "./other-syntax.ts";
import { checkProfiles } from "./profiles.ts";
import { reportRemoved } from "./removed-keys.ts";
import { isSecretPlace, type SecretPlace } from "./secret-texts.ts";
import { checkIds, isInEntry, readServers } from "./servers.ts";
import { ForeignKeys } from "./skip-foreign.ts";
import { substitute, type Variables } from "./substitute.ts";

export interface ParseOptions {
  /** The name shown in messages. Relative paths start from its folder. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The base for relative paths; default: the file's folder. */
  readonly cwd?: string;
  readonly home?: string;
  /**
   * The file was found in the current folder, so anybody may have written it. Variables are
   * rejected in `gateway`, because those keys decide where the command line sends requests and
   * tokens.
   */
  readonly found?: boolean;
  /** Reads an `envFile` or the file of `${file:path}`. Without a reader, these are errors. */
  readonly readFile?: (path: string) => string;
  /** Looks for programs and folders, to warn about those that are missing. */
  readonly probe?: Probe | undefined;
}

export interface ParsedConfig {
  readonly config: Config;
  /** The problems of servers' entries, in file order; `servers` has them too, each its own. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/**
 * Parses a config. @throws ConfigError with every problem found, in file order, if one of them
 * concerns more than a server's entry.
 */
export function parseConfig(source: string, options: ParseOptions): ParsedConfig {
  const text = source.startsWith("\uFEFF") ? source.slice(1) : source;
  const { file } = options;
  const { root: written, error } = parseSyntax(text);
  const translation = written?.type === "object" && error === undefined ? translate(written, file) : undefined;
  const report = createReport(file, text, translation?.root ?? written);
  const other = error === undefined ? undefined : otherSyntax(text, file);
  if (other !== undefined) {
    const hint = 'write the servers as { "mcpServers": { … } }';
    report.error([], `this is ${other}; Goblin reads JSON`, { offset: 0, hint });
  } else if (error !== undefined) report.error([], error.message, { offset: error.offset });
  else if (translation === undefined) report.error([], "expected an object in braces");
  if (translation === undefined) throw new ConfigError(report.errors);

  const { root, dialect } = translation;
  for (const { path, message } of translation.problems) report.error(path, message, { at: "key" });
  const folder = resolve(options.cwd ?? configFolder(file));
  const { env, readFile } = options;
  const inputs = inputDefinitions(valueIn(root, "inputs"));
  const variables: Variables = { env, folder, home: options.home ?? homeOf(env), readFile, file, inputs };
  const secretPlaces: SecretPlace[] = [];
  checkIds(root, report);
  const keys = propertiesOf(root).map(([key]) => key);
  const foreign = new ForeignKeys(dialect, keys, report);
  const value = readValue(root, report, {
    skip: (path) => reportRemoved(path, report) || foreign.skips(path),
    text: (given, path) => {
      if (options.found && path[0] === "gateway") return unsubstituted(given, path, report);
      const own = isInEntry(path) ? (dialect?.variables?.(given) ?? given) : given;
      return substituted(own, path, { root, variables, report, secretPlaces });
    },
  });
  foreign.finish();
  const whole = configFileSchema.safeParse(value);
  if (!whole.success) {
    const context = {
      report,
      knownKeys: keysAt,
      valueAt: (path: KeyPath) => valueAt(value, path),
      hintFor: (path: KeyPath) => hintFor(path, valueAt(value, path)),
    };
    for (const issue of whole.error.issues) reportIssue(issue, context);
  }
  const settings = configFileSchema.safeParse({ ...(value as object), mcpServers: {}, servers: {} });
  const context: NormaliseContext = {
    report,
    folder,
    home: variables.home,
    hasPrincipals: settings.success && hasPrincipals(settings.data.gateway.auth),
    isLocalOnly: settings.success && isLocalOnly(settings.data.gateway),
    severalTokens: settings.success && admitsSeveral(settings.data.gateway.auth),
    readFile,
    env,
    probe: options.probe,
    inheritEnv: settings.success ? settings.data.backends.inheritEnv : undefined,
    results: settings.success ? settings.data.results : undefined,
    masking: settings.success ? settings.data.masking : undefined,
    secretPlaces,
  };
  const servers = readServers(root, value, context);
  if (settings.success) checkProfiles(settings.data, servers, report);
  if (settings.success) reportPolicy(settings.data, servers, report);
  const isolated = servers.reduce((count, { problems = [] }) => count + problems.length, 0);
  if (!settings.success || report.errors.length > isolated) throw new ConfigError(report.errors);
  warnOfWeakTokens(settings.data.gateway, report);
  return { config: assemble(settings.data, servers, context), problems: report.errors, warnings: report.warnings };
}

/** Whether two different principals may connect. */
function admitsSeveral({ tokens, clients, oauth, pairing }: GatewayConfig["auth"]): boolean {
  return pairing || oauth !== undefined || new Set(tokens).size + Object.keys(clients).length > 1;
}

function hasPrincipals({ tokens, clients, oauth, pairing }: GatewayConfig["auth"]): boolean {
  return oauth !== undefined || pairing || tokens.length + Object.keys(clients).length > 0;
}

function homeOf(env: ParseOptions["env"]): string {
  return env.HOME ?? env.USERPROFILE ?? homedir();
}

interface SubstitutedContext {
  readonly root: Node;
  readonly variables: Variables;
  readonly report: Report;
  /** Gets the texts with references. */
  readonly secretPlaces: SecretPlace[];
}

function substituted(
  written: string,
  path: KeyPath,
  { root, variables, report, secretPlaces }: SubstitutedContext,
): unknown {
  if (path[0] === "inputs" || path[0] === "$schema") return written;
  const keepsReferences = isInEntry(path) && isSecretPlace(path);
  const { text, problems, parts } = substitute(written, variables, { shell: path[2] === "args", keepsReferences });
  if ((path[2] === "env" || path[2] === "headers") && isInEntry(path) && /^\$[A-Za-z_]\w*$/.test(written)) {
    report.warn(path, "stays as written", { hint: "for the value of an environment variable, write ${env:NAME}" });
  }
  if (problems.length > 0) {
    const message = problems.map((problem) => problem.message).join("; ");
    const hint = problems[0]?.hint;
    const isHarmless = problems.every(({ isWarning }) => isWarning) || isUnused(root, path, variables);
    if (isHarmless) report.warn(path, message, { hint });
    else report.error(path, message, { hint });
    report.settle(path);
  }
  if (parts) secretPlaces.push({ path, parts });
  return text === written || parts || problems.length > 0 ? text : typed(text, path, report);
}

/** Converts a substituted text if the schema expects a number or a boolean at its path. */
function typed(text: string, path: KeyPath, report: Report): unknown {
  const type = plainTypeAt(path);
  if (type === "number" && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type === "boolean" && /^(true|false)$/.test(text)) return text === "true";
  if (type !== undefined) {
    const wanted = type === "number" ? "a number" : "true or false";
    report.error(path, `expected ${wanted}; the text is not that once its variables are replaced`);
  }
  return text;
}

function unsubstituted(written: string, path: KeyPath, report: Report): string {
  if (!written.includes("${")) return written;
  const hint = "write the value itself, or name the file with --config";
  report.error(path, 'a config found in the current folder must not have ${…} in "gateway"', { hint });
  return written;
}

/** The keys of an entry that only a connection reads. */
const CONNECTION_TEXTS: ReadonlySet<unknown> = new Set([
  "command",
  "args",
  "env",
  "envFile",
  "cwd",
  "url",
  "serverUrl",
  "headers",
]);

/** Returns whether the text belongs to a disabled server, which needs no secrets. */
function isUnused(root: Node, path: KeyPath, variables: Variables): boolean {
  if (!isInEntry(path) || !CONNECTION_TEXTS.has(path[2])) return false;
  const entry = propertiesOf(root)
    .filter(([key]) => key === path[0])
    .flatMap(([, , servers]) => propertiesOf(servers))
    .find(([id]) => id === path[1])?.[2];
  return propertiesOf(entry).some(([key, , { value }]) => {
    if (key !== "enabled" && key !== "disabled") return false;
    const given = typeof value === "string" ? substitute(value, variables).text : String(value);
    return given === String(key === "disabled");
  });
}

function assemble(file: ConfigFile, servers: readonly ServerConfig[], context: NormaliseContext): Config {
  const { gateway, profiles, clients, oauth, metaTools, names, resources, policy } = file;
  const { lock, masking, record, otel, cluster, registry } = file;
  const log = withFixed("log", file);
  const audit = log.audit === undefined ? {} : { audit: resolvePath(log.audit, context) };
  const recordings = record?.dir === undefined ? {} : { dir: resolvePath(record.dir, context) };
  const locked = lock.file === undefined ? {} : { file: resolvePath(lock.file, context) };
  const tokens = new Set(Object.keys(gateway.auth.clients));
  const rules = policy.rules.map((rule) =>
    rule.effect === "allow" && rule.who?.clients
      ? { ...rule, who: { ...rule.who, clients: withTokensMeant(rule.who.clients, tokens) } }
      : rule,
  );
  const { tls } = gateway;
  const secured = tls && { tls: { cert: resolvePath(tls.cert, context), key: resolvePath(tls.key, context) } };
  return {
    servers,
    gateway: { ...gateway, ...secured },
    profiles,
    clients,
    oauth,
    tools: withFixed("tools", file),
    metaTools,
    names,
    resources,
    policy: { ...policy, rules },
    approvals: {
      ...withFixed("approvals", file),
      trustClients: withTokensMeant(file.approvals.trustClients, tokens),
    },
    lock: { ...lock, ...locked },
    results: withFixed("results", file),
    masking,
    lists: withFixed("lists", file),
    limits: withFixed("limits", file),
    timeouts: withFixed("timeouts", file),
    backends: withFixed("backends", file),
    calls: withFixed("calls", file),
    record: record && { ...record, ...recordings },
    log: { ...log, ...audit },
    otel,
    cluster,
    registry,
  };
}

/** Returns the value of a section as it is written. */
function valueIn(root: Node, section: string): unknown {
  const node = propertiesOf(root).find(([key]) => key === section)?.[2];
  return node && getNodeValue(node);
}

function valueAt(value: unknown, path: KeyPath): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}

function hintFor(path: KeyPath, value: unknown): string | undefined {
  const foreign = foreignKey(path);
  if (foreign?.kind === "refused") return foreign.hint;
  if (path.length === 1 && keysAt(["mcpServers", ""]).includes(String(path[0]))) {
    return 'this belongs in a server\'s entry: { "mcpServers": { "<name>": { … } } }';
  }
  const looksLikeServer = typeof value === "object" && value !== null && ("command" in value || "url" in value);
  return path.length === 1 && looksLikeServer ? 'servers belong under "mcpServers"' : undefined;
}
