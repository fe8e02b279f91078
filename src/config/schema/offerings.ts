/** The config's sections about what clients see: tools, names, prompts, resources and lists. */
import * as z from "zod";
import { countFromOne } from "./limits.ts";

export const toolsSchema = z.strictObject({
  expose: z
    .enum(["all", "search", "auto"])
    .default("all")
    .describe(
      'What tools/list shows: "all" tools; only the meta tools ("search"); or "auto", which decides for each client, by what is known of it and by whether all definitions fit into 20,000 tokens ([meta tools](meta-tools.md#which-tools-are-listed)).',
    ),
});
export type ToolsConfig = z.output<typeof toolsSchema>;

/**
 * Listed here so that editors complete them. `src/core/meta/registry.ts` must have a tool for each.
 */
export const META_TOOL_NAMES = [
  "catalog_tools",
  "describe_tool",
  "search_tools",
  "call_tool",
  "catalog_prompts",
  "describe_prompt",
  "search_prompts",
  "catalog_resources",
  "describe_resource",
  "search_resources",
  "catalog_resource_templates",
  "catalog_servers",
  "goblin_health",
  "read_result",
] as const;
export type MetaToolName = (typeof META_TOOL_NAMES)[number];

export const metaToolsSchema = z.strictObject({
  enabled: z
    .array(z.enum(META_TOOL_NAMES))
    .optional()
    .describe(
      "The gateway's own tools that clients can see and call. Default: search_tools, describe_tool and call_tool where some tools are not listed, and read_result. read_result is there only where results may be kept ([results](results.md)).",
    ),
});
export type MetaToolsConfig = z.output<typeof metaToolsSchema>;

export const clientsSchema = z
  .record(
    z.string().min(1),
    z.strictObject({
      expose: z.enum(["all", "search", "auto"]).optional().describe("Replaces tools.expose for these clients."),
      pinned: z
        .array(z.string().min(1))
        .default([])
        .describe("Tools that are always listed to them, by listed name. Clients that search load them at once."),
      searchesTools: z
        .boolean()
        .optional()
        .describe('With "auto": whether they search their tools themselves, so that all can be listed.'),
      maxTools: countFromOne.optional().describe('With "auto": the most tools that they take.'),
      maxNameLength: countFromOne.optional().describe('With "auto": the longest name of a tool that they take.'),
    }),
  )
  .default({})
  .describe("How tools are listed to single clients ([meta tools](meta-tools.md#by-client)).");
export type ClientsConfig = z.output<typeof clientsSchema>;

export const namesSchema = z.strictObject({
  maxLength: z.int().min(16).max(128).default(64).describe("Longer names are cut and end in a short hash."),
  repeatPrefix: z
    .boolean()
    .default(true)
    .describe(
      "Whether a name that begins with its server's prefix gets it again: git_git_status for git's git_status. Calls may use either name.",
    ),
});
export type NamesConfig = z.output<typeof namesSchema>;

export const resourcesSchema = z.strictObject({
  uris: z
    .enum(["prefixed", "flat", "raw"])
    .default("prefixed")
    .describe(
      'The form in which clients see resource URIs. Requests may use every form in every mode; a raw URI only if no prefix claims it. The ids of "flat" are not URLs: clients that check URLs, such as those with the Python SDK 1.x, reject the list.',
    ),
});
export type ResourcesConfig = z.output<typeof resourcesSchema>;

export const listsSchema = z.strictObject({
  order: z
    .enum(["sorted", "server"])
    .default("sorted")
    .describe('"sorted" by name, or "server": by server, in the order of the config, each in its own order.'),
});
export type ListsConfig = z.output<typeof listsSchema>;

export const lockSchema = z.strictObject({
  mode: z
    .enum(["off", "warn", "enforce"])
    .default("off")
    .describe(
      '"warn" compares what servers list with goblin.lock and reports every difference; "enforce" also keeps changes from clients, as lock.strictness says.',
    ),
  file: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The lock file. Relative to the config's folder; ~ is the home folder. Default: goblin.lock beside the config.",
    ),
  strictness: z
    .enum(["strict", "default", "relaxed"])
    .default("default")
    .describe(
      'With "enforce", which changes wait for an approval ([lock](lock.md#strictness)). "default": new tools, wider ones and new texts. "strict": also tools and parameters that are gone. "relaxed": new and wider tools, and texts that look like an attack.',
    ),
});
export type LockConfig = z.output<typeof lockSchema>;
