/**
 * Finds mistakes in the rules of a config, as far as the config itself shows them. Servers,
 * annotations and principals may not exist, conditions may not compile, and rules may never have an
 * effect. A rule that silently matches nothing protects nothing.
 */
import { matchesGlob } from "../lib/text/glob.ts";
import { nearestWord } from "../lib/text/nearest/nearest-word.ts";
import { annotationNames, isAnnotation } from "./annotations.ts";
import { readPath } from "./argument-path.ts";
import { conditionProblem } from "./conditions/condition.ts";
import type { PolicyConfig, RuleConfig, Who } from "./rule.ts";
import { spellsOut } from "./target.ts";

export interface PolicyProblem {
  /** Below `policy`. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint?: string | undefined;
  readonly isWarning?: boolean;
}

/** What rules can refer to. */
export interface Surroundings {
  readonly serverIds: readonly string[];
  /** The names of named tokens. */
  readonly clients: readonly string[];
  /** The issuers of access tokens. */
  readonly issuers: readonly string[];
  /** Whether tokens can have groups, scopes and an OAuth client. */
  readonly hasClaims: boolean;
}

type Add = (path: readonly (string | number)[], message: string, hint?: string) => void;

export function policyProblems(policy: PolicyConfig, around: Surroundings): PolicyProblem[] {
  const problems: PolicyProblem[] = [];
  const ids = new Set<string>();
  for (const [i, rule] of policy.rules.entries()) {
    const add: Add = (path, message, hint) => problems.push({ path: ["rules", i, ...path], message, hint });
    if (rule.id !== undefined && ids.has(rule.id)) add(["id"], "another rule has this id");
    if (rule.id !== undefined) ids.add(rule.id);
    checkServers(rule, around, add);
    checkPatterns(rule, around, add);
    checkWho(["who"], rule.who ?? {}, { ...around, add });
    checkWho(["who", "not"], rule.who?.not ?? {}, { ...around, add });
    const wrong = rule.when === undefined ? undefined : conditionProblem(rule.when);
    if (wrong !== undefined) add(["when"], `the condition does not compile: ${wrong}`);
    checkParameters(rule, add);
    if (rule.ask === false && rule.effect !== "allow") add(["ask"], 'has a meaning only with "allow"');
    if (policy.default === "allow" && rule.effect === "allow" && !rule.set && !rule.hide && rule.ask !== false) {
      const message = 'has no effect: everything is allowed by "policy.default"';
      problems.push({ path: ["rules", i], message, isWarning: true });
    }
  }
  return problems;
}

function checkServers({ server }: RuleConfig, { serverIds }: Surroundings, add: Add): void {
  if (server === undefined) return;
  const isList = typeof server !== "string";
  for (const [i, pattern] of (isList ? server : [server]).entries()) {
    if (serverIds.some((id) => matchesGlob(pattern, id))) continue;
    const message = /[*?]/.test(pattern) ? "matches no server" : "there is no such server";
    add(isList ? ["server", i] : ["server"], message, meant(pattern, serverIds));
  }
}

function checkPatterns(rule: RuleConfig, { serverIds }: Surroundings, add: Add): void {
  for (const kind of ["tools", "prompts", "resources"] as const) {
    for (const [i, pattern] of (rule[kind] ?? []).entries()) {
      if (pattern.startsWith("@") && !isAnnotation(pattern)) {
        const known = annotationNames.join(", ");
        add([kind, i], "unknown annotation", meant(pattern, annotationNames) ?? `there are ${known}`);
      } else if (isAnnotation(pattern) && kind !== "tools") {
        add([kind, i], "only tools have annotations");
      } else if (rule.server === undefined && kind !== "resources" && !isAnnotation(pattern)) {
        checkNamed(pattern, serverIds, (message, hint) => add([kind, i], message, hint));
      }
    }
  }
}

/** A pattern that names a server must name one that exists. */
function checkNamed(
  pattern: string,
  serverIds: readonly string[],
  add: (message: string, hint?: string) => void,
): void {
  const slash = pattern.indexOf("/");
  const server = pattern.slice(0, slash);
  const spelled = serverIds.filter((id) => spellsOut(pattern, id));
  if (slash !== -1 && !serverIds.some((id) => matchesGlob(server, id))) {
    add(`there is no server ${JSON.stringify(server)}`, meant(server, serverIds));
  } else if (slash === -1 && spelled.length > 1) {
    const names = spelled.map((id) => JSON.stringify(id)).join(" or ");
    add(`can mean the server ${names}`, 'write server/name, or name the server with "server"');
  }
}

interface WhoContext extends Surroundings {
  readonly add: Add;
}

function checkWho(path: readonly string[], who: Who, { add, clients, issuers, hasClaims }: WhoContext): void {
  for (const key of ["groups", "scopes", "clients"] as const) {
    if (who[key] === undefined || hasClaims) continue;
    if (
      key === "clients" &&
      who.clients!.every((name) => clients.some((known) => matchesGlob(name.replace(/^token:/, ""), known)))
    )
      continue;
    add([...path, key], `no token here has ${key}: they come with "gateway.auth.oauth"`);
  }
  for (const [i, written] of (who.principals ?? []).entries()) {
    const [issuer, subject] = written.split(" ", 2);
    const isKnown =
      subject === undefined
        ? written.startsWith("token:") || clients.some((name) => matchesGlob(written, name))
        : issuers.some((known) => matchesGlob(issuer!, known));
    if (isKnown || written === "*") continue;
    const message =
      subject === undefined ? '"gateway.auth.clients" has no such name' : '"gateway.auth.oauth" has no such issuer';
    const hint = subject === undefined ? "for an access token, write its issuer, a space, and its subject" : undefined;
    add([...path, "principals", i], message, meant(written, clients) ?? hint);
  }
}

function checkParameters({ effect, when, set, hide, prompts, resources }: RuleConfig, add: Add): void {
  for (const [key, paths] of [["set", set && Object.keys(set)] as const, ["hide", hide] as const]) {
    if (paths === undefined) continue;
    if (effect === "deny") add([key], 'has no meaning with "deny"');
    else if (when !== undefined) add([key], 'cannot depend on "when": it changes the listed schema too');
    else if (prompts || resources) add([key], "is for tools only");
    for (const [i, path] of paths.entries()) {
      if (readPath(path).every((step) => step !== "")) continue;
      add([key, key === "set" ? path : i], "expected the name of an argument, or a path such as options.owner");
    }
  }
}

function meant(word: string, known: readonly string[]): string | undefined {
  const near = nearestWord(word, known);
  return near === undefined ? undefined : `did you mean ${JSON.stringify(near)}?`;
}
