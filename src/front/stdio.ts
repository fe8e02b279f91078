/** The gateway on stdin and stdout, for clients that start it themselves. */

import type { Readable, Writable } from "node:stream";
import { STDIO_ACCOUNT } from "../mcp/protocol/call.ts";
import { GoblinError } from "../mcp/protocol/errors.ts";
import { ANYONE, type Place } from "../mcp/protocol/principal.ts";
import type { FrontContext } from "./context.ts";
import { type LineChannel, serveLines } from "./line-channel.ts";

export interface StdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** The endpoint that the client would use over HTTP. */
  readonly endpoint?: string | undefined;
}

/** Throws if there is no such endpoint. */
export function serveStdio(context: FrontContext, { input, output, endpoint = "" }: StdioOptions): LineChannel {
  const placeNow = (): Place | undefined => context.access.placeOf(endpoint, ANYONE);
  const place = placeNow();
  if (!place) throw new GoblinError("INVALID_REQUEST", `There is no endpoint /mcp${endpoint}`);
  return serveLines(context, { input, output, principal: ANYONE, place, placeNow, account: STDIO_ACCOUNT });
}
