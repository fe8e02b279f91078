/**
 * What a gateway has at a moment, as plain data for the program that it is part of. The types stand
 * for themselves: no package and no part of the gateway shows in them.
 */

/**
 * - `connecting`: an attempt is under way
 * - `ready`: connected
 * - `degraded`: connected, but its calls fail or a list could not be fetched
 * - `down`: waiting for the next attempt
 * - `disabled`: switched off
 */
export type ServerState = "connecting" | "ready" | "degraded" | "down" | "disabled";

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
  /** What clients call it by. */
  readonly name: string;
  /** What its server calls it. */
  readonly originalName: string;
  readonly serverId: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** A JSON Schema. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** A JSON Schema. */
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
  /** False when clients find it by search only. */
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

/** Everything at one moment; a copy that nothing changes later. */
export interface GatewaySnapshot {
  readonly servers: readonly ServerCard[];
  readonly tools: readonly ToolCard[];
  readonly prompts: readonly PromptCard[];
  readonly resources: readonly ResourceCard[];
  readonly templates: readonly TemplateCard[];
}
