/**
 * Makes a Peer for a server as its config entry describes it: opens the right transport and finds out what the server speaks.
 * Without a `type`, an address is tried as Streamable HTTP first and as HTTP+SSE when the server refuses that.
 */
import type { Client } from "../../model/call.ts";
import { GoblinError } from "../../model/errors.ts";
import type { OpenLink, Peer, PeerEvents } from "../backend.ts";
import { httpLink } from "../http.ts";
import { sseLink } from "../sse.ts";
import { stdioLink } from "../stdio.ts";
import { connectLegacy } from "./legacy.ts";

export type Transport =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
    }
  | {
      readonly kind: "http" | "sse" | "auto";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

export interface NegotiateOptions {
  readonly transport: Transport;
  readonly clientInfo: Readonly<Record<string, unknown>>;
  readonly messageCap: number;
  readonly connectMs: number;
  readonly stderr: (line: string) => void;
}

/** A shared connection may be asked anything: which client a question goes to is decided when it comes. */
const SHARED_CAPABILITIES = {
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
} as const;

export async function connectPeer(
  options: NegotiateOptions,
  events: PeerEvents,
  owner: Client | undefined,
): Promise<Peer> {
  const connect = (open: OpenLink): Promise<Peer> =>
    connectLegacy({
      open,
      events,
      clientInfo: owner?.info["name"] === undefined ? options.clientInfo : owner.info,
      capabilities: owner?.capabilities ?? SHARED_CAPABILITIES,
      connectMs: options.connectMs,
    });
  const { transport } = options;
  if (transport.kind === "stdio") {
    return connect(stdioLink({ ...transport, lineCap: options.messageCap, stderr: options.stderr }));
  }
  const remote = { ...transport, messageCap: options.messageCap, connectMs: options.connectMs };
  if (transport.kind === "sse") return connect(sseLink(remote));
  if (transport.kind === "http") return connect(httpLink(remote));
  try {
    return await connect(httpLink(remote));
  } catch (first) {
    // Unreachable is unreachable for both; any other refusal may be a server that only knows the older transport.
    if (first instanceof GoblinError && first.message.includes("cannot be reached")) throw first;
    return connect(sseLink(remote)).catch(() => {
      throw first;
    });
  }
}
