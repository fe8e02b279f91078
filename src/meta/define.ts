/**
 * What a meta tool is: a tool of the gateway's own, defined by zod schemas, answered from the
 * catalog.
 *
 * What is listed is derived from the schemas and from nothing else. A result carries its JSON
 * twice, as structured content and as text, and both are the same characters.
 */
import * as z from "zod";
import type { Definition } from "../catalog/definitions.ts";
import type { SearchOptions } from "../catalog/search/index.ts";
import type { Snapshot } from "../catalog/snapshot.ts";
import type { MetaToolName } from "../config/schema/settings.ts";
import type { Call } from "../protocol/call.ts";
import type { Answer } from "../protocol/json-rpc.ts";
import { readArguments } from "./arguments.ts";

/** How a server is doing. Holds nothing of its config but the kind of transport. */
export interface GatewayHealth {
  readonly version: string;
  readonly uptimeMs: number;
  /** Whether every server has connected or failed once. */
  readonly settled: boolean;
  /** Whether the config in use is the one in the file. */
  readonly configValid: boolean;
}

export interface ServerHealth {
  readonly serverId: string;
  readonly state: "connecting" | "ready" | "degraded" | "down" | "disabled";
  readonly reason: string | undefined;
  /** Epoch milliseconds. */
  readonly since: number;
  readonly restarts: number;
  readonly inFlight: number;
  readonly queued: number;
  readonly retryAfterMs: number | undefined;
  readonly transport: "stdio" | "http" | "sse";
  readonly protocolVersion: string | undefined;
  readonly title: string | undefined;
  readonly version: string | undefined;
}

/** What the meta tools may see and do. */
export interface MetaContext {
  readonly snapshot: () => Snapshot;
  /** The exposed names of what was found, best first. */
  readonly search: (query: string, options: SearchOptions) => Promise<string[]>;
  readonly servers: () => readonly ServerHealth[];
  readonly gateway: () => GatewayHealth;
  /** The entrance that every request takes. */
  readonly dispatch: (call: Call) => Promise<Answer>;
}

export interface MetaTool {
  readonly name: MetaToolName;
  readonly definition: Definition;
  /** Errors are thrown. */
  readonly answer: (call: Call, context: MetaContext) => Promise<Answer>;
}

/** JSON text that holds more than JavaScript can, such as a server's definition as it came. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface Described {
  readonly name: MetaToolName;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output?: z.ZodObject;
  readonly annotations: Readonly<Record<string, boolean>>;
}

/** Changes nothing and asks nobody outside; the other hints mean nothing then. */
const READ_ONLY = { readOnlyHint: true, openWorldHint: false };

export function defineMetaTool<In extends z.ZodObject, Out extends z.ZodObject>(
  spec: Omit<Described, "annotations"> & {
    readonly input: In;
    readonly output: Out;
    readonly run: (
      input: z.output<In>,
      context: MetaContext,
    ) => z.input<Out> | JsonText | Promise<z.input<Out> | JsonText>;
  },
): MetaTool {
  return {
    name: spec.name,
    definition: definitionOf({ ...spec, annotations: READ_ONLY }),
    answer: async (call, context) => {
      const result = await spec.run(readArguments(spec.name, spec.input, call), context);
      const text = result instanceof JsonText ? result.text : JSON.stringify(result);
      const content = `[{"type":"text","text":${JSON.stringify(text)}}]`;
      return { ok: true, raw: `{"content":${content},"structuredContent":${text}}` };
    },
  };
}

export function definitionOf({ name, title, description, input, output, annotations }: Described): Definition {
  const value = {
    name,
    title,
    description,
    inputSchema: jsonSchema(input),
    ...(output && { outputSchema: jsonSchema(output) }),
    annotations,
  };
  return { value, text: JSON.stringify(value) };
}

function jsonSchema(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    // As input: members that are not named stay allowed where the schema allows them.
    io: "input",
    override: ({ jsonSchema: part }) => {
      // Every whole number is within these; a model should not have to read them.
      if (part.minimum === Number.MIN_SAFE_INTEGER) delete part.minimum;
      if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum;
    },
  });
  return rest;
}
