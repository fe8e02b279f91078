/**
 * `goblin call <tool> [key=value…]`: calls a tool and prints what it returns. Exit code 1 if the
 * tool says that it failed.
 */
import { adminRoutes } from "../../admin/routes.ts";
import { nearest } from "../../config/problems/nearest.ts";
import { isObject, type JsonSchema } from "../../protocol/schema-shape.ts";
import { clean } from "../../text/clean.ts";
import { buildArguments } from "../arguments.ts";
import { printToolResult } from "../content.ts";
import type { McpClient } from "../mcp-client.ts";
import { printJson } from "../table.ts";
import { type Target, type TargetOptions, withClient } from "../target.ts";
import { UsageError } from "../usage-error.ts";

export interface CallOptions extends TargetOptions {
  readonly args?: string | undefined;
  readonly out: string;
  readonly json?: boolean | undefined;
}

export function call(name: string, pairs: readonly string[], options: CallOptions): Promise<number> {
  return withClient(options, async (client, target) => {
    const schema = await inputSchema(name, client, target);
    const values = buildArguments({ pairs, json: options.args }, schema);
    showProgress(client);
    const params = { name, arguments: values, _meta: { progressToken: "cli" } };
    const result = await client.request("tools/call", params);
    if (options.json) printJson(result);
    else printToolResult(result, { out: options.out, name });
    return result["isError"] === true ? 1 : 0;
  });
}

/** What clients see first; a tool that is found by search only is known to the API. */
async function inputSchema(name: string, client: McpClient, target: Target): Promise<JsonSchema> {
  const listed = await client.list("tools/list", "tools");
  const found = listed.find((tool) => tool["name"] === name);
  if (found) return isObject(found["inputSchema"]) ? found["inputSchema"] : {};
  const { items } = await target.get(adminRoutes.listTools);
  const same = items.filter((tool) => tool.name === name || tool.originalName === name);
  const [one] = same;
  if (one && same.length === 1) return one.inputSchema;
  if (one) throw new UsageError(`several servers have a tool "${name}": ${same.map((tool) => tool.name).join(", ")}`);
  const meant = nearest(name, [...items.map((tool) => tool.name), ...listed.map((tool) => String(tool["name"]))]);
  const hint = meant === undefined ? 'see "goblin list tools"' : `did you mean "${meant}"?`;
  throw new UsageError(`there is no tool "${name}" (${hint})`);
}

/** One line on stderr that is written over; only where a person looks at it. */
function showProgress(client: McpClient): void {
  if (!process.stderr.isTTY) return;
  client.onNotification = (method, { progress, total, message }) => {
    if (method !== "notifications/progress") return;
    const share = typeof total === "number" ? `${String(progress)}/${total}` : String(progress);
    process.stderr.write(`\r\u001b[K${clean(`${share} ${typeof message === "string" ? message : ""}`)}`);
    if (progress === total) process.stderr.write("\r\u001b[K");
  };
}
