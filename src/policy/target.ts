/**
 * What a rule is about: servers, and tools, prompts and resources of them, by the names that their
 * server gives them.
 *
 * A pattern says its server by `server/name`, or as clients often see it, `server_name`. Without
 * that and without the rule's `server`, it is about all servers. A name can never pass from one
 * server to another: one that spells out a server's id is about that server alone.
 *
 * Resources are matched by URI, in every form that leads to the same resource: a deny or an ask
 * matches any form, an allow must match all of them.
 */
import { matchesGlob } from "../lib/text/glob.ts";
import { type AnnotationName, hasAnnotation, isAnnotation } from "./annotations.ts";
import type { Item, RuleConfig } from "./rule.ts";
import { UriPatterns } from "./uri-forms.ts";

/** A pattern for tools or prompts. */
interface NamePattern {
  /** A pattern for the server's id; undefined: the rule's servers. */
  readonly server: string | undefined;
  /** Patterns for the server's own name. */
  readonly names: readonly string[];
  readonly annotation: AnnotationName | undefined;
}

export class Target {
  /** Whether the rule is about everything of its servers. */
  readonly isWhole: boolean;
  readonly #servers: readonly string[] | undefined;
  readonly #tools: readonly NamePattern[] | undefined;
  readonly #prompts: readonly NamePattern[] | undefined;
  readonly #uris: UriPatterns | undefined;
  /** Whether one form of a URI is enough. */
  readonly #takesAnyForm: boolean;

  constructor(rule: RuleConfig, serverIds: readonly string[]) {
    const { server, tools, prompts, resources } = rule;
    const read = (pattern: string): NamePattern => readPattern(pattern, server === undefined, serverIds);
    this.isWhole = !tools && !prompts && !resources;
    this.#servers = typeof server === "string" ? [server] : server;
    this.#tools = tools?.map(read);
    this.#prompts = prompts?.map(read);
    this.#uris = resources && new UriPatterns(resources);
    this.#takesAnyForm = rule.effect !== "allow";
  }

  /** Whether the rule can match anything of this server. */
  reaches(serverId: string): boolean {
    if (this.#servers && !this.#servers.some((pattern) => matchesGlob(pattern, serverId))) return false;
    if (this.isWhole || this.#uris) return true;
    return [...(this.#tools ?? []), ...(this.#prompts ?? [])].some((pattern) => isFor(pattern, serverId));
  }

  /**
   * The only tool names that the rule can match at a server, so that they can be looked up;
   * undefined if it has wildcards, annotations or other kinds.
   */
  literalTools(serverId: string): readonly string[] | undefined {
    if (!this.#tools || this.#prompts || this.#uris) return undefined;
    const own = this.#tools.filter((pattern) => isFor(pattern, serverId));
    const names = own.flatMap((pattern) => pattern.names);
    return own.some(({ annotation }) => annotation) || names.some((name) => /[*?]/.test(name)) ? undefined : names;
  }

  /** `item.serverId` must be a server that the rule reaches. */
  matches({ kind, serverId, name, annotations }: Item): boolean {
    if (this.isWhole) return true;
    if (kind === "resource") return this.#matchesUri(name);
    const patterns = kind === "tool" ? this.#tools : this.#prompts;
    return (
      patterns?.some((pattern) => {
        if (!isFor(pattern, serverId)) return false;
        if (pattern.annotation) return hasAnnotation(annotations, pattern.annotation);
        return pattern.names.some((one) => matchesGlob(one, name));
      }) ?? false
    );
  }

  #matchesUri(uri: string): boolean {
    return (this.#takesAnyForm ? this.#uris?.matchesAnyForm(uri) : this.#uris?.matchesEveryForm(uri)) ?? false;
  }
}

function isFor({ server }: NamePattern, serverId: string): boolean {
  return server === undefined || matchesGlob(server, serverId);
}

function readPattern(pattern: string, mayNameServer: boolean, serverIds: readonly string[]): NamePattern {
  if (isAnnotation(pattern)) return { server: undefined, names: [], annotation: pattern };
  const base = { annotation: undefined };
  if (!mayNameServer) return { ...base, server: undefined, names: [pattern] };
  const slash = pattern.indexOf("/");
  if (slash !== -1) return { ...base, server: pattern.slice(0, slash), names: [pattern.slice(slash + 1)] };
  const server = serverIds.find((id) => spellsOut(pattern, id));
  // The server may begin its own names with its id, too.
  if (server !== undefined) return { ...base, server, names: [pattern, pattern.slice(server.length + 1)] };
  // `*_delete` is meant for `delete` of any server, too.
  return { ...base, server: undefined, names: pattern.startsWith("*_") ? [pattern, pattern.slice(2)] : [pattern] };
}

/** Whether a pattern begins with the server's id and an underscore. */
export function spellsOut(pattern: string, serverId: string): boolean {
  return pattern.startsWith(`${serverId}_`);
}
