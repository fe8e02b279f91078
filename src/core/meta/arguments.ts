/**
 * Reads a meta tool's arguments. Errors are phrased in terms of the tool's schema: they name each
 * missing argument with its purpose, and each unexpected one.
 */
import * as z from "zod";
import type { Call } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";

export function readArguments<Schema extends z.ZodObject>(tool: string, schema: Schema, call: Call): z.output<Schema> {
  const given = call.params["arguments"] ?? {};
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const missing: string[] = [];
  const problems = read.error.issues.map((issue) => {
    const [key] = issue.path;
    if (typeof key !== "string") {
      return issue.code === "unrecognized_keys" ? unknownKeys(issue.keys, schema) : 'needs "arguments", an object';
    }
    if (issue.path.length > 1 || Object.hasOwn(given, key))
      return `got a wrong "${issue.path.join(".")}": ${issue.message}`;
    missing.push(key);
    return `needs ${describeArgument(key, schema)}`;
  });
  const data = missing.length > 0 ? { missing } : {};
  throw new GoblinError("INVALID_PARAMS", `${tool} ${problems.join("; it ")}`, { data });
}

function unknownKeys(keys: readonly string[], schema: z.ZodObject): string {
  return `does not take ${quoted(keys)} (it takes ${quoted(Object.keys(schema.shape)) || "no arguments"})`;
}

function describeArgument(key: string, schema: z.ZodObject): string {
  const { properties } = z.toJSONSchema(schema, { io: "input" });
  const { type, description } = (properties?.[key] ?? {}) as { type?: string; description?: string };
  return `"${key}"${type === undefined ? "" : ` (${type})`}${description === undefined ? "" : `: ${description}`}`;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name.slice(0, 64)}"`).join(", ");
}
