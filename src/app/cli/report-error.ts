/**
 * Prints a command's failure: one helpful line, with a stack only on request; with --json, one line
 * of JSON.
 *
 * Invariant: a message may quote a server or a file, so only printable characters reach the
 * terminal.
 */
import { CommanderError } from "commander";
import { ConfigError } from "../../config/problems/problem.ts";
import { recordOf } from "../../lib/structures/record.ts";
import { cleanLines } from "../../lib/text/clean.ts";
import { RpcError } from "./gateway/mcp-client.ts";
import { RefusedRequest } from "./gateway/refused-request.ts";
import { errorPage } from "./terminal/error-page.ts";
import { painter } from "./terminal/paint.ts";
import { safeJson } from "./terminal/safe-json.ts";
import { UsageError } from "./usage-error.ts";

export interface ReportOptions {
  readonly verbose: boolean;
  readonly json: boolean;
}

/** Prints the error. Returns the exit code: 1 failure, 2 wrong usage. */
export function reportError(error: unknown, { verbose, json }: ReportOptions): number {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // Without --json, commander has already printed its message.
    if (json) complainInJson(new UsageError(error.message.replace(/^error: /, "")));
    return 2;
  }
  if (json) complainInJson(error);
  else if (verbose && error instanceof Error) complain(error.stack ?? error.message);
  else if (error instanceof ConfigError) complain(error.message);
  else complain(`goblin: ${describe(error)}${pageOf(error)}`);
  return error instanceof UsageError ? 2 : 1;
}

function complain(text: string): void {
  const paint = painter(process.stderr);
  console.error(
    cleanLines(text)
      .map((line) => paint("red", line))
      .join("\n"),
  );
}

function complainInJson(error: unknown): void {
  const message = describe(error);
  console.error(safeJson({ error: { ...kindOf(error), message } }));
}

function kindOf(error: unknown): Record<string, unknown> {
  if (error instanceof UsageError) return { code: "USAGE" };
  if (error instanceof ConfigError) return { code: error.code, problems: error.problems };
  const page = pageAbout(error);
  const known = page !== undefined && { page };
  if (error instanceof RpcError) return { code: "RPC_ERROR", rpcCode: error.code, data: error.data, ...known };
  if (error instanceof RefusedRequest) return { code: "API_ERROR", apiCode: error.code, ...known };
  return { code: "FAILED" };
}

/** What to do about it stands there. */
function pageOf(error: unknown): string {
  const page = pageAbout(error);
  return page === undefined ? "" : `\nWhat to do: ${page}`;
}

function pageAbout(error: unknown): string | undefined {
  if (error instanceof RefusedRequest) return errorPage(error.code);
  return error instanceof RpcError ? errorPage(recordOf(error.data)["code"]) : undefined;
}

function describe(error: unknown): string {
  const { code, port } = error as { code?: string; port?: number };
  if (code === "EADDRINUSE") return `port ${port} is in use: choose another with --port, or 0 for a free one`;
  if (code === "EACCES" && port !== undefined) return `this user may not listen on port ${port}: choose one above 1023`;
  return error instanceof Error ? error.message : String(error);
}
