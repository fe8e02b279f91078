/**
 * What a demo server is: plain data and functions, no protocol. `line-server.ts` turns one into an
 * MCP server.
 *
 * A tool that cannot do what it was asked throws a `ToolFailure`; the caller then gets a result
 * with `isError`. Everything else that is thrown is a protocol error.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Fields = { [key: string]: Json };

/** What a running call can do besides returning a result. */
export interface Turn {
  /** Aborted when the client cancels the call or goes away. */
  readonly signal: AbortSignal;
  readonly clientCapabilities: Fields;
  progress(done: number, total: number, message: string): void;
  log(level: LogLevel, data: Json): void;
  /** Sends a request to the client and waits for its answer. */
  ask(method: string, params: Fields): Promise<Fields>;
}

export interface DemoTool {
  /** The entry of `tools/list`. */
  readonly definition: Fields & { name: string };
  run(args: Fields, turn: Turn): Fields | Promise<Fields>;
}

export interface DemoPrompt {
  /** The entry of `prompts/list`. */
  readonly definition: Fields & { name: string; arguments: { name: string; description: string; required: boolean }[] };
  messages(args: Record<string, string>): Json[];
}

export interface DemoResources {
  list(): Fields[];
  templates(): Fields[];
  /** The contents, or nothing if there is no such resource. */
  read(uri: string): Fields | undefined;
}

/** How a demo tells its client that something changed by itself. */
export interface Changes {
  resourceListChanged(): void;
  resourceUpdated(uri: string): void;
}

export interface Demo {
  readonly info: { name: string; title: string; version: string };
  readonly instructions: string;
  readonly tools: DemoTool[];
  readonly prompts?: DemoPrompt[];
  readonly resources?: DemoResources;
  /**
   * Values for an argument of a prompt or a template, before they are narrowed to what was typed.
   */
  complete?(ref: Fields, argument: string): string[];
  /** Called once; whatever it starts has to end with the signal. */
  start?(changes: Changes, signal: AbortSignal): void;
}

export const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}

export function stringArgument(args: Fields, name: string): string {
  const value = args[name];
  if (typeof value !== "string" || value === "") throw new ToolFailure(`Argument "${name}" must be a non-empty string`);
  return value;
}

/** A whole number within bounds; the fallback when it was not given. */
export function numberArgument(
  args: Fields,
  name: string,
  bounds: { min: number; max: number; fallback: number },
): number {
  const value = args[name] ?? bounds.fallback;
  if (typeof value !== "number" || !Number.isInteger(value) || value < bounds.min || value > bounds.max) {
    throw new ToolFailure(`Argument "${name}" must be a whole number from ${bounds.min} to ${bounds.max}`);
  }
  return value;
}

export function text(value: string): Fields {
  return { type: "text", text: value };
}

/**
 * A result for a tool with an output schema: the same value for programs and, as text, for everyone
 * else.
 */
export function structured(value: Fields, ...more: Fields[]): Fields {
  return { content: [text(JSON.stringify(value)), ...more], structuredContent: value };
}
