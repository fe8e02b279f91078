/**
 * A gateway's current state as plain data, for the program that embeds it.
 *
 * Invariant: the types are self-contained. They mention no package and no internals of the gateway.
 */

/**
 * - `installing`: a package runner (npx, uvx, docker run, …) was started and may install first
 * - `connecting`: an attempt is under way
 * - `ready`: connected
 * - `degraded`: connected, but its calls fail or a list could not be fetched
 * - `down`: waiting for the next attempt
 * - `needs-login`: waiting for a user's login
 * - `disabled`: switched off
 * - `invalid`: its entry in the config cannot be used; it is never started
 */
export type ServerState =
  | "installing"
  | "connecting"
  | "ready"
  | "degraded"
  | "down"
  | "needs-login"
  | "disabled"
  | "invalid";

/** A server of the config. */
export interface ServerCard {
  readonly id: string;
  readonly state: ServerState;
  /** Why it is not ready. */
  readonly reason: string | null;
  /** When it entered this state, in epoch milliseconds. */
  readonly since: number;
  readonly transport: "stdio" | "http" | "sse";
  /** Null while it is not connected. */
  readonly protocolVersion: string | null;
}

/** A tool, as clients see it. */
export interface ToolCard {
  /** The name that clients use. */
  readonly name: string;
  /** The server's own name for it. */
  readonly originalName: string;
  readonly serverId: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** A JSON Schema. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** A JSON Schema. */
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  /** False if clients find it only by search. */
  readonly listed: boolean;
}

/** A prompt, as clients see it. */
export interface PromptCard {
  readonly name: string;
  readonly originalName: string;
  readonly serverId: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly arguments: readonly PromptArgument[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
}

/** A resource, as clients see it. */
export interface ResourceCard {
  readonly uri: string;
  readonly originalUri: string;
  readonly serverId: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  /** In bytes. */
  readonly size?: number | undefined;
}

/** A resource template, as clients see it. */
export interface TemplateCard {
  readonly uriTemplate: string;
  readonly originalUriTemplate: string;
  readonly serverId: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
}

/** Everything at one moment, as a copy that never changes. */
export interface GatewaySnapshot {
  readonly servers: readonly ServerCard[];
  readonly tools: readonly ToolCard[];
  readonly prompts: readonly PromptCard[];
  readonly resources: readonly ResourceCard[];
  readonly templates: readonly TemplateCard[];
}
