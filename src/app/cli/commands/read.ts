/**
 * `goblin read <uri>`: prints a resource, or saves it if it is not text. Accepts every form of a
 * URI that the gateway knows.
 */

import { errorTable } from "../../../mcp/protocol/errors.ts";
import { type McpClient, RpcError } from "../gateway/mcp-client.ts";
import { type TargetOptions, withClient } from "../gateway/target.ts";
import { noSuch } from "../suggest.ts";
import { blocksOf, printContents } from "../terminal/content.ts";
import { whileWaiting } from "../terminal/status-line.ts";
import { printJson } from "../terminal/table.ts";

export interface ReadOptions extends TargetOptions {
  readonly out?: string | undefined;
  readonly json?: boolean | undefined;
}

export function read(uri: string, options: ReadOptions): Promise<number> {
  return withClient(options, async (client) => {
    const result = await whileWaiting(`reading ${uri}`, () =>
      client.request("resources/read", { uri }).catch(async (error: unknown) => {
        throw (await isMissing(uri, error, client)) ?? error;
      }),
    );
    if (options.json) printJson(result);
    else
      for (const contents of blocksOf(result["contents"]))
        printContents(contents, { out: options.out, name: nameOf(uri) });
    return 0;
  });
}

/**
 * Returns the error for an unknown URI. Called only after a failure, because a resource need not be
 * listed to be readable.
 */
async function isMissing(uri: string, error: unknown, client: McpClient): Promise<Error | undefined> {
  if (!(error instanceof RpcError) || error.code !== errorTable.RESOURCE_NOT_FOUND.rpc) return undefined;
  const known = (await client.list("resources/list", "resources")).map((resource) => String(resource["uri"]));
  if (known.includes(uri)) return undefined;
  return noSuch({ kind: "resource", name: uri, known, otherwise: 'see "goblin list resources"' });
}

/** Returns the last part of the path without its extension. */
function nameOf(uri: string): string {
  const last = uri.split(/[/?#]/).findLast((part) => part !== "") ?? uri;
  return last.replace(/\.\w{1,5}$/, "");
}
