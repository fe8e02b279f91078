/**
 * The table of MCP methods: the list that each one reads, the param that holds its identifier, and
 * the kind of thing it names. All code that treats tools, prompts, resources and templates alike
 * reads this table.
 */
import type { ErrorCode } from "./errors.ts";

export type ListKind = "tools" | "prompts" | "resources" | "templates";

export interface ListMethod {
  readonly kind: ListKind;
  /** The member of the result that holds the array. */
  readonly member: string;
  /** The server capability that the list requires. */
  readonly capability: "tools" | "prompts" | "resources";
}

export const listMethods: Readonly<Record<string, ListMethod>> = {
  "tools/list": { kind: "tools", member: "tools", capability: "tools" },
  "prompts/list": { kind: "prompts", member: "prompts", capability: "prompts" },
  "resources/list": { kind: "resources", member: "resources", capability: "resources" },
  "resources/templates/list": { kind: "templates", member: "resourceTemplates", capability: "resources" },
};

export interface RoutedMethod {
  /** The kind of thing that the identifier names. */
  readonly names: "tool" | "prompt" | "resource" | "reference" | "extension";
  /** The member of the params that holds the identifier. */
  readonly field: "name" | "uri" | "ref";
  readonly timeout: ErrorCode;
}

export const routedMethods: Readonly<Record<string, RoutedMethod>> = {
  "tools/call": { names: "tool", field: "name", timeout: "TIMEOUT" },
  "prompts/get": { names: "prompt", field: "name", timeout: "PROMPT-004" },
  "resources/read": { names: "resource", field: "uri", timeout: "TIMEOUT" },
  "completion/complete": { names: "reference", field: "ref", timeout: "TIMEOUT" },
};

/** Looks up own properties only: a method called `constructor` is unknown. */
export function lookUp<T>(table: Readonly<Record<string, T>>, method: string): T | undefined {
  return Object.hasOwn(table, method) ? table[method] : undefined;
}

/** The client capability that each kind of server question requires. */
export const questionCapabilities: Readonly<Record<string, string>> = {
  "sampling/createMessage": "sampling",
  "elicitation/create": "elicitation",
  "roots/list": "roots",
};

/** The notification for a changed list, by kind (templates change with resources). */
export const changeNotifications = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed",
} as const;

export type ChangeKind = keyof typeof changeNotifications;

/** The inverse: the kind of list that each notification is about. */
export const changeKinds: ReadonlyMap<string, ChangeKind> = new Map(
  (Object.keys(changeNotifications) as ChangeKind[]).map((kind) => [changeNotifications[kind], kind]),
);

export const logLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

export function severity(level: string): number {
  return (logLevels as readonly string[]).indexOf(level);
}
