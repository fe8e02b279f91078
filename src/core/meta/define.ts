/**
 * Defines a meta tool: a tool of the gateway itself, described by zod schemas and answered from the
 * catalog.
 *
 * Invariants: the listed definition is derived from the schemas alone. A result carries its JSON
 * twice, as structured content and as text, with identical characters.
 */
import * as z from "zod";
import type { MetaToolName } from "../../config/schema/offerings.ts";
import { lazy } from "../../lib/structures/lazy.ts";
import { isRecord } from "../../lib/structures/record.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import type { Answer } from "../../mcp/protocol/json-rpc.ts";
import type { Catalog } from "../../upstream/catalog/catalog.ts";
import type { Definition } from "../../upstream/catalog/definitions.ts";
import type { CatalogSearch } from "../../upstream/catalog/search/feed.ts";
import type { Health } from "../../upstream/servers/health.ts";
import type { Servers } from "../../upstream/servers/servers.ts";
import type { Waiting } from "../../upstream/servers/waiting.ts";
import type { Results } from "../results/results.ts";
import { readArguments } from "./arguments.ts";

/** The parts of the gateway that meta tools may use. */
export interface MetaContext {
  readonly catalog: Pick<Catalog, "view">;
  /** Waits for entries of a starting server. */
  readonly waiting: Pick<Waiting, "found">;
  readonly servers: { readonly arrivals: Pick<Servers["arrivals"], "firstLists"> };
  readonly search: Pick<CatalogSearch, "find">;
  readonly health: Health;
  readonly results: Pick<Results, "find" | "readPart">;
  /** Hides the gateway's secrets in JSON about what servers offer. */
  readonly mask: (json: string) => string;
}

/** The entrance for all requests. */
export interface CallHandler {
  handle(call: Call): Promise<Answer>;
}

export interface MetaTool {
  readonly name: MetaToolName;
  readonly definition: Definition;
  /** Throws on errors. `relay` handles the calls that the tool passes on. */
  readonly answer: (call: Call, context: MetaContext, relay: CallHandler) => Promise<Answer>;
}

/** JSON that must not be reparsed, for example a server's original definition. */
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
  /** The schemas are made on first use: most gateways need few of them. */
  readonly input: () => z.ZodObject;
  readonly output?: () => z.ZodObject;
  readonly annotations: Readonly<Record<string, boolean>>;
}

/** Changes nothing and contacts nothing outside. The other hints do not apply then. */
const READ_ONLY = { readOnlyHint: true, openWorldHint: false };

/**
 * A tool without `output` lists no schema of its results: each listed word is read by every model
 * before its first question.
 */
export function defineMetaTool<In extends z.ZodObject, Out extends z.ZodObject>(
  spec: Omit<Described, "annotations"> & {
    readonly input: () => In;
    readonly output?: () => Out;
    readonly run: (
      input: z.output<In>,
      context: MetaContext,
      call: Call,
    ) => z.input<Out> | JsonText | Promise<z.input<Out> | JsonText>;
  },
): MetaTool {
  const input = lazy(spec.input);
  return {
    name: spec.name,
    definition: definitionOf({ ...spec, input, annotations: READ_ONLY }),
    answer: async (call, context) => {
      const result = await spec.run(readArguments(spec.name, input(), call), context, call);
      const text = context.mask(result instanceof JsonText ? result.text : JSON.stringify(result));
      const content = `[{"type":"text","text":${JSON.stringify(text)}}]`;
      return { ok: true, raw: `{"content":${content},"structuredContent":${text}}` };
    },
  };
}

/** The schemas are made when somebody reads them: they are most of what a definition costs. */
export function definitionOf({ name, title, description, input, output, annotations }: Described): Definition {
  const inputSchema = lazy(() => jsonSchema(input()));
  const outputSchema = output && lazy(() => jsonSchema(output()));
  const value = {
    name,
    title,
    description,
    get inputSchema() {
      return inputSchema();
    },
    // Without a schema, JSON has no such member.
    get outputSchema() {
      return outputSchema?.();
    },
    annotations,
  };
  const text = lazy(() => JSON.stringify(value));
  return {
    value,
    get text() {
      return text();
    },
  };
}

function jsonSchema(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    // As input: unnamed members stay allowed if the schema allows them.
    io: "input",
    override: ({ jsonSchema: part }) => {
      // Every integer is within these bounds, so models need not read them.
      if (part.minimum === Number.MIN_SAFE_INTEGER) delete part.minimum;
      if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum;
      // An empty schema allows everything, like no schema; strict clients reject it.
      if (isRecord(part.additionalProperties) && Object.keys(part.additionalProperties).length === 0)
        delete part.additionalProperties;
    },
  });
  return rest;
}
