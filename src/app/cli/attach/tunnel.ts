/** Opens a tunnel to a gateway, which carries the lines of one client. */
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ATTACH_CONFIG, ATTACH_ENDPOINT, ATTACH_TARGET } from "../../../front/attach/tunnel-words.ts";

export interface TunnelOptions {
  /** The gateway's root URL. */
  readonly url: string;
  readonly token: string | undefined;
  readonly profile: string | undefined;
  readonly server: string | undefined;
}

export interface Tunnel {
  readonly socket: Duplex;
  /** Identifies the config of the gateway. */
  readonly configKey: string;
}

/** Why there is no tunnel. */
export class NoTunnel extends Error {
  /**
   * `absent`: nobody listens there, or not now. `foreign`: somebody else does. `refused`: the
   * gateway does not let this client in, and will not later.
   */
  readonly why: "absent" | "foreign" | "refused";

  constructor(why: NoTunnel["why"], message: string) {
    super(message);
    this.why = why;
  }
}

/** A gateway answers at once; somebody else may never do. */
const ANSWER_MS = 10_000;
const MAX_BODY = 64 * 1024;

export async function openTunnel({ url, token, profile, server }: TunnelOptions): Promise<Tunnel> {
  const { hostname, port, protocol, host } = new URL(url);
  const { request } = await (protocol === "https:" ? import("node:https") : import("node:http"));
  const headers: Record<string, string> = { host };
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  if (profile !== undefined) headers[ATTACH_ENDPOINT] = `/p/${encodeURIComponent(profile)}`;
  if (server !== undefined) headers[ATTACH_ENDPOINT] = `/s/${encodeURIComponent(server)}`;
  const asked = request({
    method: "CONNECT",
    path: ATTACH_TARGET,
    headers,
    agent: false,
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
  });
  const { answer, socket, head } = await answered(asked, url);
  const config = answer.headers[ATTACH_CONFIG];
  if (answer.statusCode === 200 && typeof config === "string") {
    if (head.length > 0) socket.unshift(head);
    return { socket, configKey: config };
  }
  const message = await reason(socket, head);
  if (message === undefined) throw foreign(url);
  throw new NoTunnel(answer.statusCode === 503 ? "absent" : "refused", `${url} refused the client: ${message}`);
}

interface Answered {
  readonly answer: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

function answered(asked: ClientRequest, url: string): Promise<Answered> {
  return new Promise((resolve, reject) => {
    let isConnected = false;
    asked.once("socket", (socket) => {
      socket.once("connect", () => {
        isConnected = true;
      });
    });
    asked.once("connect", (answer, socket, head) => {
      socket.on("error", () => {});
      asked.setTimeout(0);
      resolve({ answer, socket, head });
    });
    // Somebody that takes no CONNECT may answer as to any other request.
    asked.once("response", (answer) => {
      answer.destroy();
      reject(foreign(url));
    });
    asked.setTimeout(ANSWER_MS, () => asked.destroy(foreign(url)));
    asked.once("error", (error: NodeJS.ErrnoException) => {
      if (error instanceof NoTunnel) reject(error);
      // Something accepted the connection and closed it: it speaks another protocol.
      else if (isConnected && /^(ECONNRESET|EPIPE|HPE_|ERR_SSL|EPROTO)/.test(error.code ?? "")) reject(foreign(url));
      else reject(new NoTunnel("absent", `no gateway is listening on ${url} (${error.message})`));
    });
    asked.end();
  });
}

function foreign(url: string): NoTunnel {
  return new NoTunnel("foreign", `${url} is not a Goblin gateway, or one that is too old`);
}

/** Returns the gateway's own words; undefined if they are not a gateway's. */
async function reason(socket: Duplex, head: Buffer): Promise<string | undefined> {
  const parts = [head];
  let size = head.length;
  const timer = setTimeout(() => socket.destroy(), ANSWER_MS);
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      parts.push(chunk);
      size += chunk.length;
      if (size > MAX_BODY) break;
    }
    const { error } = JSON.parse(Buffer.concat(parts).toString("utf8")) as { error?: { message?: unknown } };
    return typeof error?.message === "string" ? error.message : undefined;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}
