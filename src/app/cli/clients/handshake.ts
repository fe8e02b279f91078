/**
 * Tries what was written into a client's settings, as the client would: reads the file again,
 * starts the entry's command or connects to its URL, shakes hands, and lists the tools.
 *
 * Invariant: what it starts has ended when it is done. Variables have the values that they have
 * here; the client's own environment is not known.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "../../../config/problems/problem.ts";
import { parseConfig } from "../../../config/reading/parse.ts";
import { clean } from "../../../lib/text/clean.ts";
import { withTimeout } from "../../../lib/timing/with-timeout.ts";
import type { RemoteTransport, ServerTransport } from "../../../mcp/links/transport.ts";
import type { KnownClient, SettingsEntry } from "../../clients/client.ts";
import { readState, textOf } from "../../clients/files.ts";
import { entriesIn } from "../../clients/foreign-entry.ts";
import { isOwnEntry } from "../../clients/linking.ts";
import { McpClient, type Send } from "../gateway/mcp-client.ts";
import { RefusedToken } from "../gateway/refused-request.ts";
import { programSend } from "./program-send.ts";

export interface Handshake {
  /** The entry's name. */
  readonly entry: string;
  /** How many tools it lists; undefined: the handshake failed. */
  readonly tools?: number;
  /** Why it failed. */
  readonly reason?: string;
  /** Nobody listens there yet, or a variable is not set here: the entry may be right. */
  readonly isOpen?: boolean;
}

const PATIENCE_MS = 60_000;
const PROBE_MS = 10_000;
/** How long servers may take until the first of them has tools. */
const SERVERS_MS = 30_000;
const AGAIN_MS = 500;
const UNAUTHORIZED = 401;

/** A failure that says nothing about the entry itself. */
class OpenQuestion extends Error {}

export interface TryOptions {
  /** The gateway has servers, which may still be starting: an empty list is asked for again. */
  readonly expectsTools: boolean;
}

/** Returns whether a gateway answers at an address, even if it refuses this caller. */
export async function isAnswered(url: string): Promise<boolean> {
  const { send, close } = remoteSend({ url, headers: {} });
  try {
    const client = await withTimeout(McpClient.connect(send, {}), PROBE_MS, undefined);
    await client?.close().catch(() => {});
    return client !== undefined;
  } catch (error) {
    return error instanceof RefusedToken;
  } finally {
    await close();
  }
}

/** Tries every entry of the gateway in a client's file. */
export async function tryEntries(client: KnownClient, file: string, options: TryOptions): Promise<Handshake[]> {
  const found = await readState(file);
  if (!found) return [];
  const entries = await entriesIn(textOf(found), client, file);
  const own = [...entries].filter(([name, entry]) => isOwnEntry(name, entry));
  return Promise.all(own.map(([name, entry]) => tryEntry(name, entry, options)));
}

async function tryEntry(name: string, entry: SettingsEntry, options: TryOptions): Promise<Handshake> {
  try {
    const tools = await toolsOf(transportOf(entry), options);
    return { entry: name, tools };
  } catch (error) {
    const reason = clean((error as Error).message);
    return { entry: name, reason, ...(error instanceof OpenQuestion && { isOpen: true }) };
  }
}

/** Reads the entry like one of a config, with this environment. */
function transportOf(entry: SettingsEntry): ServerTransport {
  try {
    // The gateway's own id is reserved.
    const text = JSON.stringify({ mcpServers: { entry } });
    const { config } = parseConfig(text, { file: "mcp.json", env: process.env });
    const { transport, problems } = config.servers[0]!;
    if (problems?.[0]) throw new OpenQuestion(problems[0].message);
    return transport;
  } catch (error) {
    throw error instanceof ConfigError ? new OpenQuestion(error.problems[0]!.message) : error;
  }
}

async function toolsOf(transport: ServerTransport, { expectsTools }: TryOptions): Promise<number> {
  const { send, close } = transport.kind === "stdio" ? await programSend(transport) : remoteSend(transport);
  const late = new Error(`it did not answer within ${PATIENCE_MS / 1000} s`);
  const listed = async (): Promise<number> => {
    const client = await McpClient.connect(send, {});
    let tools = await client.list("tools/list", "tools");
    for (const end = Date.now() + SERVERS_MS; expectsTools && tools.length === 0 && Date.now() < end; ) {
      await sleep(AGAIN_MS);
      tools = await client.list("tools/list", "tools");
    }
    await client.close().catch(() => {});
    return tools.length;
  };
  try {
    const count = await withTimeout(listed(), PATIENCE_MS, undefined);
    if (count === undefined) throw late;
    return count;
  } finally {
    await close();
  }
}

function remoteSend({ url, headers }: Pick<RemoteTransport, "url" | "headers">): {
  send: Send;
  close: () => Promise<void>;
} {
  const send: Send = async (init) => {
    const all = new Headers(init.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    const response = await fetch(url, { ...init, headers: all }).catch((error: { cause?: { code?: string } }) => {
      if (error.cause?.code === "ECONNREFUSED")
        throw new OpenQuestion(`nothing answers at ${url} yet: start the gateway with goblin serve`);
      throw error;
    });
    if (response.status === UNAUTHORIZED) throw new RefusedToken(`${url} refused the token`);
    if (response.status === 404) throw new Error(`${url} is not an endpoint of the gateway that runs there`);
    return response;
  };
  return { send, close: async () => {} };
}
