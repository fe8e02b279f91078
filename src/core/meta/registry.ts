/**
 * All meta tools, and the choice of those offered.
 *
 * Invariant: a meta tool that is not offered can be neither listed nor called.
 */

import type { MetaToolName } from "../../config/schema/offerings.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import type { Answer } from "../../mcp/protocol/json-rpc.ts";
import type { Definition } from "../../upstream/catalog/definitions.ts";
import { callTool } from "./call-tool.ts";
import type { CallHandler, MetaContext, MetaTool } from "./define.ts";
import { catalogPrompts, describePrompt, searchPrompts } from "./prompts.ts";
import { readResult } from "./read-result.ts";
import { catalogResources, catalogResourceTemplates, describeResource, searchResources } from "./resources.ts";
import { catalogServers, goblinHealth } from "./servers.ts";
import { catalogTools, describeTool, searchTools } from "./tools.ts";

const metaTools: Readonly<Record<MetaToolName, MetaTool>> = {
  catalog_tools: catalogTools,
  describe_tool: describeTool,
  search_tools: searchTools,
  call_tool: callTool,
  catalog_prompts: catalogPrompts,
  describe_prompt: describePrompt,
  search_prompts: searchPrompts,
  catalog_resources: catalogResources,
  describe_resource: describeResource,
  search_resources: searchResources,
  catalog_resource_templates: catalogResourceTemplates,
  catalog_servers: catalogServers,
  goblin_health: goblinHealth,
  read_result: readResult,
};

/** Other names of meta tools. A server's tool with the same listed name takes precedence. */
const aliases: Readonly<Record<string, MetaToolName>> = { health: "goblin_health" };

const LISTING = /^(?:search_|catalog_(?!servers))/;

/** The tools by which a model finds, reads and calls any other. */
export const SEARCH_TOOLS: readonly MetaToolName[] = ["search_tools", "describe_tool", "call_tool"];

/** The tool that reads results that are kept. */
export const READER = readResult.name;

/** Returns whether one of these tools searches. */
export function searches(own: readonly Definition[]): boolean {
  return own.some(({ value }) => String(value["name"]).startsWith("search_"));
}

/** Returns the definitions to list. */
export function metaDefinitions(enabled: readonly MetaToolName[]): Definition[] {
  return [...new Set(enabled)].map((name) => metaTools[name].definition);
}

/** The gateway's own tools, as the entrance finds and runs them. */
export class LocalTools {
  readonly #context: MetaContext;

  constructor(context: MetaContext) {
    this.#context = context;
  }

  /**
   * Returns the tool that a call names, if the snapshot lists it. `relay` handles the calls that
   * the tool passes on.
   */
  find(call: Call): ((call: Call, relay: CallHandler) => Promise<Answer>) | undefined {
    const { name } = call.params;
    if (typeof name !== "string") return undefined;
    const tool = Object.hasOwn(metaTools, name) ? metaTools[name as MetaToolName] : this.#aliased(name, call);
    if (!tool || !this.#context.catalog.view(call.client).local.includes(tool.definition)) return undefined;
    return (call, relay) => this.#answer(tool, call, relay);
  }

  async #answer(tool: MetaTool, call: Call, relay: CallHandler): Promise<Answer> {
    // These wait like the lists that they stand for.
    if (LISTING.test(tool.name)) await this.#context.servers.arrivals.firstLists(call.client);
    return tool.answer(call, this.#context, relay);
  }

  #aliased(name: string, { client }: Call): MetaTool | undefined {
    if (!Object.hasOwn(aliases, name)) return undefined;
    const listed = this.#context.catalog.view(client).tools.find(name)?.exposed === name;
    return listed ? undefined : metaTools[aliases[name]!];
  }
}
