/**
 * The JSON Schema of the config file, for editors: derived from the zod schema, never written by
 * hand.
 */
import * as z from "zod";
import { configFileSchema } from "./config.ts";

export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(configFileSchema, { io: "input", target: "draft-7" });
  return { $schema, title: "Goblin config", description: "The config file of the Goblin MCP gateway.", ...schema };
}
