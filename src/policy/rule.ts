/**
 * The rules as the config gives them, and what they are about.
 *
 * A rule matches servers by id and things by the names that their server gives them. Names that
 * clients see can move from one server to another; these cannot.
 */

/** Deny beats ask, and ask beats allow, regardless of the order of the rules. */
export type Effect = "allow" | "ask" | "deny";

/** What holds where no rule matches. */
export type Fallback = Exclude<Effect, "ask">;

/** Each list that is given must match. An entry of a list is enough; `*` and `?` are wildcards. */
export interface Who {
  /** The names of `gateway.auth.clients`, or an issuer and a subject with a space between. */
  readonly principals?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
  /** OAuth clients by id, or names of `gateway.auth.clients`. */
  readonly clients?: readonly string[] | undefined;
  readonly scopes?: readonly string[] | undefined;
}

export interface RuleConfig {
  readonly id?: string | undefined;
  readonly effect: Effect;
  /** False, of an allow: what it matches needs no person's approval. */
  readonly ask?: false | undefined;
  /** Told to a client whose call the rule refuses, and to the person who is asked. */
  readonly reason?: string | undefined;
  readonly server?: string | readonly string[] | undefined;
  /** Names, or annotations such as `@readOnly`. */
  readonly tools?: readonly string[] | undefined;
  readonly prompts?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly who?: (Who & { readonly not?: Who | undefined }) | undefined;
  /** A condition in CEL. */
  readonly when?: string | undefined;
  /** Values of arguments, by path. */
  readonly set?: Readonly<Record<string, unknown>> | undefined;
  /** Paths of arguments that clients neither see nor send. */
  readonly hide?: readonly string[] | undefined;
}

export interface PolicyConfig {
  readonly default: Fallback;
  readonly rules: readonly RuleConfig[];
}

/** Something that a principal may or may not use. */
export interface Item {
  readonly kind: "tool" | "prompt" | "resource";
  readonly serverId: string;
  /** The server's own name for it; for a resource its URI, for a template the template. */
  readonly name: string;
  /** The tool's `annotations`, as its server sent them. */
  readonly annotations?: unknown;
}

/** The name of a rule for people: its id, or its place in the list. */
export function ruleName({ id }: Pick<RuleConfig, "id">, index: number): string {
  return id ?? `policy.rules[${index}]`;
}
