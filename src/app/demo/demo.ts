/**
 * The definition of a demo server: plain data and functions, no protocol. `line-server.ts` turns it
 * into an MCP server.
 *
 * A tool throws a `ToolFailure` to return a result with `isError`. Any other error becomes a
 * protocol error.
 */
import type { LogLevel } from "../../mcp/protocol/log-levels.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Fields = { [key: string]: Json };

/** The actions of a running call besides returning a result. */
export interface Turn {
  /** Aborted when the client cancels the call or disconnects. */
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
  /** Returns the contents, or undefined if the resource does not exist. */
  read(uri: string): Fields | undefined;
}

/** Notifies the client of changes. */
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
   * Returns values for an argument of a prompt or a template. The caller filters them by the typed
   * text.
   */
  complete?(ref: Fields, argument: string): string[];
  /** Called once. Everything it starts must end with the signal. */
  start?(changes: Changes, signal: AbortSignal): void;
}

export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}

export function stringArgument(args: Fields, name: string): string {
  const value = args[name];
  if (typeof value !== "string" || value === "") throw new ToolFailure(`Argument "${name}" must be a non-empty string`);
  return value;
}

/** Returns an integer within bounds, or the fallback if the argument is missing. */
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
 * Builds a result for a tool with an output schema: the same value as structured content and as
 * text.
 */
export function structured(value: Fields, ...more: Fields[]): Fields {
  return { content: [text(JSON.stringify(value)), ...more], structuredContent: value };
}
