/**
 * The table of MCP methods: the list that each one reads, the param that holds its identifier, and
 * the kind of thing it names. All code that treats tools, prompts, resources and templates alike
 * reads this table.
 */
import { foldWords } from "../../lib/json/fold-key.ts";
import { type ErrorCode, GoblinError } from "./errors.ts";

export type ListKind = "tools" | "prompts" | "resources" | "templates";

export interface ListMethod {
  readonly kind: ListKind;
  /** The member of the result that holds the array. */
  readonly member: string;
  /** The server capability that the list requires. */
  readonly capability: "tools" | "prompts" | "resources";
}

export const listMethods: ReadonlyMap<string, ListMethod> = new Map([
  ["tools/list", { kind: "tools", member: "tools", capability: "tools" }],
  ["prompts/list", { kind: "prompts", member: "prompts", capability: "prompts" }],
  ["resources/list", { kind: "resources", member: "resources", capability: "resources" }],
  ["resources/templates/list", { kind: "templates", member: "resourceTemplates", capability: "resources" }],
]);

export interface RoutedMethod {
  /** The kind of thing that the identifier names. */
  readonly names: "tool" | "prompt" | "resource" | "reference" | "extension";
  /** The member of the params that holds the identifier. */
  readonly field: "name" | "uri" | "ref";
  readonly timeout: ErrorCode;
}

export const routedMethods: ReadonlyMap<string, RoutedMethod> = new Map([
  ["tools/call", { names: "tool", field: "name", timeout: "TIMEOUT" }],
  ["prompts/get", { names: "prompt", field: "name", timeout: "PROMPT_TIMEOUT" }],
  ["resources/read", { names: "resource", field: "uri", timeout: "TIMEOUT" }],
  ["completion/complete", { names: "reference", field: "ref", timeout: "TIMEOUT" }],
]);

/** The client capability that each question of a server needs. */
const questionCapabilities: ReadonlyMap<string, string> = new Map([
  ["sampling/createMessage", "sampling"],
  ["elicitation/create", "elicitation"],
  ["roots/list", "roots"],
]);

/** Whether a client with these capabilities can be asked this. */
export function canBeAsked(capabilities: Readonly<Record<string, unknown>>, method: string): boolean {
  const capability = questionCapabilities.get(method);
  return capability !== undefined && capability in capabilities;
}

/** Whether this is a question that MCP knows, which a client must declare to be asked. */
export function isQuestion(method: string): boolean {
  return questionCapabilities.has(method);
}

/** What a server is told that asks for more. */
export function cannotBeAsked(method: string): GoblinError {
  return new GoblinError("UNSUPPORTED_BY_CLIENT", `The client does not support ${method}`);
}

/**
 * The notification that says a list has changed, by kind of list (templates change with resources).
 */
export const changeNotifications = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed",
} as const;

export type ChangeKind = keyof typeof changeNotifications;

/** What `subscriptions/listen` calls each kind of change. */
export const changeFilters = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const satisfies Record<ChangeKind, string>;

export const allChangeKinds = Object.keys(changeNotifications) as readonly ChangeKind[];

/** The other way round: which kind of list a notification is about. */
export const changeKinds: ReadonlyMap<string, ChangeKind> = new Map(
  allChangeKinds.map((kind) => [changeNotifications[kind], kind]),
);

/** The first parts of MCP's own methods. All others belong to extensions. */
export const mcpFamilies: ReadonlySet<string> = new Set([
  "tools",
  "prompts",
  "resources",
  "completion",
  "logging",
  "tasks",
  "roots",
  "sampling",
  "elicitation",
  "server",
  "subscriptions",
  "notifications",
]);

/** MCP's own methods that no table above has. */
const otherMethods = [
  "resources/subscribe",
  "resources/unsubscribe",
  "completion/complete",
  "logging/setLevel",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tasks/cancel",
  "tasks/update",
  "server/discover",
  "subscriptions/listen",
];
const mcpMethods: ReadonlySet<string> = new Set([...listMethods.keys(), ...routedMethods.keys(), ...otherMethods]);
const mcpMethodForms: ReadonlySet<string> = new Set([...mcpMethods].map(methodForm));

/** What a server makes of a method that ignores case, spaces and signs in it. */
function methodForm(method: string): string {
  return foldWords(method).replaceAll(/[^\p{Letter}\p{Number}/]/gu, "");
}

/**
 * Whether some server may take this method for one of MCP's own, which the gateway does not: no
 * policy would judge it.
 */
export function isLookalike(method: string): boolean {
  if (mcpMethods.has(method)) return false;
  const form = methodForm(method);
  const family = form.split("/", 1)[0]!;
  return mcpMethodForms.has(form) || (mcpFamilies.has(family) && !method.startsWith(`${family}/`));
}

/**
 * Whether a client's notification may go to a server: it is neither one of MCP's own nor a request
 * without an id, which many servers would act on.
 */
export function isCustomNotification(method: string): boolean {
  if (!method.includes("/") || isLookalike(method)) return false;
  if (method.startsWith("notifications/")) return !clientNotificationForms.has(methodForm(method));
  return !mcpFamilies.has(method.split("/", 1)[0]!);
}

/** What clients tell the gateway, in the form that servers may reduce it to. */
const clientNotificationForms: ReadonlySet<string> = new Set(
  [
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
  ].map(methodForm),
);

/** Notifications that end at the gateway, or that only clients send. */
export const endingNotifications: ReadonlySet<string> = new Set([
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/roots/list_changed",
  "notifications/subscriptions/acknowledged",
]);
