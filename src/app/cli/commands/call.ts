/**
 * `goblin call <tool> [key=value…]`: calls a tool and prints its result. Exit code 1 if the tool
 * reports an error. Progress and log go to stderr; the user answers questions on the terminal.
 */

import { adminRoutes } from "../../../admin/api/routes.ts";
import type * as schema from "../../../admin/api/schema.ts";
import { isRecord } from "../../../lib/structures/record.ts";
import { clean } from "../../../lib/text/clean.ts";
import { buildArguments } from "../arguments.ts";
import { pick } from "../calling/pick.ts";
import { openSources } from "../calling/sources.ts";
import { type DescribedTool, toolHelp } from "../calling/tool-help.ts";
import type { Fields, McpClient } from "../gateway/mcp-client.ts";
import { RefusedRequest } from "../gateway/refused-request.ts";
import { type Target, type TargetOptions, withClient } from "../gateway/target.ts";
import { noSuch } from "../suggest.ts";
import { printText, printToolResult } from "../terminal/content.ts";
import { painter } from "../terminal/paint.ts";
import { answerForm } from "../terminal/questions.ts";
import { createStatusLine, type StatusLine, whileWaiting } from "../terminal/status-line.ts";
import { printJson } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

export interface CallOptions extends TargetOptions {
  readonly args?: string | undefined;
  readonly out?: string | undefined;
  readonly json?: boolean | undefined;
  /** Shows the tool's arguments and calls nothing. */
  readonly help?: boolean | undefined;
  /** The path of the part to print. */
  readonly pick?: string | undefined;
}

const SEE = 'see "goblin list tools"';

/** The user fills in forms on a terminal; without one they are cancelled with a message. */
const capabilities = { elicitation: { form: {} } };

export async function call(name: string, pairs: readonly string[], options: CallOptions): Promise<number> {
  if (options.help) return help(name, options);
  const { json, read } = await openSources(pairs, options.args);
  return withClient({ ...options, capabilities }, async (client, target) => {
    const { inputSchema } = await whileWaiting(`looking for ${name}`, () => toolNamed(name, client, target));
    const values = buildArguments({ pairs, json, read }, inputSchema);
    const line = createStatusLine();
    listen(client, { name, line, quiet: options.json === true });
    // Servers send no log until a level is set.
    if (!options.json) await client.request("logging/setLevel", { level: "info" }).catch(() => {});
    line.spin(() => `waiting for ${name}`);
    const params = { name, arguments: values, _meta: { progressToken: "cli" } };
    const result = await client.request("tools/call", params).finally(() => line.clear());
    if (options.pick !== undefined && result["isError"] !== true) printPicked(pick(result, options.pick), options);
    else if (options.json) printJson(result);
    else printToolResult(result, { out: options.out, name });
    return result["isError"] === true ? 1 : 0;
  });
}

function help(name: string, options: CallOptions): Promise<number> {
  return withClient(options, async (client, target) => {
    const tool = await whileWaiting(`looking for ${name}`, () => toolNamed(name, client, target));
    if (options.json) printJson(tool);
    else console.log(toolHelp(tool));
    return 0;
  });
}

/** Text as it is, everything else as JSON. */
function printPicked(values: readonly unknown[], { json }: CallOptions): void {
  for (const value of values) {
    if (typeof value === "string" && !json) printText(value);
    else printJson(value);
  }
}

/** Looks in the client's list first. The API also knows tools that only search finds. */
async function toolNamed(name: string, client: McpClient, target: Target): Promise<DescribedTool> {
  const listed = await client.list("tools/list", "tools");
  const found = listed.find((tool) => tool["name"] === name);
  if (found) {
    const { inputSchema, outputSchema, title, description } = found;
    const output = isRecord(outputSchema) ? outputSchema : undefined;
    return { name, title, description, inputSchema: isRecord(inputSchema) ? inputSchema : {}, outputSchema: output };
  }
  const items = await toolsOfApi(target);
  // Who may not use the API may still know a tool that search found.
  if (!items && listed.some((tool) => tool["name"] === "search_tools")) return { name, inputSchema: {} };
  if (!items) throw noSuch({ kind: "tool", name, known: listed.map((tool) => String(tool["name"])), otherwise: SEE });
  const same = items.filter((tool) => tool.name === name || tool.originalName === name);
  const [one] = same;
  if (one && same.length === 1) return one;
  if (one) throw new UsageError(`several servers have a tool "${name}": ${same.map((tool) => tool.name).join(", ")}`);
  const known = [...items.map((tool) => tool.name), ...listed.map((tool) => String(tool["name"]))];
  throw noSuch({ kind: "tool", name, known, otherwise: SEE });
}

/** Undefined: the token is a client's only. */
async function toolsOfApi(target: Target): Promise<schema.ToolRow[] | undefined> {
  try {
    return (await target.request(adminRoutes.listTools)).items;
  } catch (error) {
    if (error instanceof RefusedRequest) return undefined;
    throw error;
  }
}

interface Listening {
  readonly name: string;
  readonly line: StatusLine;
  /** Hides the log, because stderr carries errors as JSON. */
  readonly quiet: boolean;
}

/** Shows the tool's progress and log, and answers its questions. */
function listen(client: McpClient, { name, line, quiet }: Listening): void {
  client.onNotification = (method, params) => {
    if (method === "notifications/progress") line.show(progressText(params));
    else if (method === "notifications/message" && !quiet) line.above(logText(params));
  };
  let asked: Promise<unknown> = Promise.resolve();
  client.onRequest = (method, params, signal) => {
    if (method !== "elicitation/create") return undefined;
    // One form at a time, because there is one terminal.
    const answer = asked.then(() => {
      line.clear();
      return answerForm(params, { asker: name, signal });
    });
    asked = answer.catch(() => {});
    return answer;
  };
}

function progressText({ progress, total, message }: Fields): string {
  const share = typeof total === "number" ? `${String(progress)}/${total}` : String(progress);
  return `${share} ${typeof message === "string" ? message : ""}`.trimEnd();
}

function logText({ level, logger, data }: Fields): string {
  const said = typeof data === "string" ? data : JSON.stringify(data);
  const from = typeof logger === "string" && logger !== "" ? ` ${logger}` : "";
  const colour = /^(warning|notice)$/.test(String(level))
    ? "yellow"
    : /^(info|debug)$/.test(String(level))
      ? "dim"
      : "red";
  return painter(process.stderr)(colour, clean(`${String(level)}${from}: ${said}`));
}
