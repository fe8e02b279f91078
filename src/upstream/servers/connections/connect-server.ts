/**
 * Connects to one server as its entry says, with the right time limit and in its turn.
 *
 * A program that has never answered may be installing, and so may every package runner: they get
 * `startMs`, and package runners start a few at a time. What its entry only refers to is
 * looked up each time. Errors never contain the server's secrets.
 */

import type { ServerLogin } from "../../../auth/login/server-login.ts";
import { renewingCredentials } from "../../../auth/secrets/renewing-credentials.ts";
import type { ServerSecrets } from "../../../auth/secrets/server-secrets.ts";
import type { LiveConfig } from "../../../config/live-config.ts";
import { packageRunnerOf } from "../../../config/package-runner.ts";
import { secretsOf } from "../../../config/secrets.ts";
import { createRedactor } from "../../../lib/text/redact.ts";
import type { ServerTransport } from "../../../mcp/links/transport.ts";
import { type Connect, type ConnectorOptions, createConnector } from "../../../mcp/peers/negotiate.ts";
import { hidingSecrets } from "./hide-secrets.ts";
import type { Start } from "./shared-connection.ts";
import type { StartQueue } from "./start-queue.ts";

export interface ConnectServerOptions
  extends Pick<ConnectorOptions, "era" | "clientInfo" | "introduction" | "onLimit" | "stderr" | "inputSchema" | "tap"> {
  readonly transport: ServerTransport;
  readonly config: Pick<LiveConfig, "current">;
  /** For a remote server that may ask for one. */
  readonly login?: ServerLogin | undefined;
  /** If its entry refers to some. */
  readonly secrets?: ServerSecrets | undefined;
  readonly queue: StartQueue;
  /** Tells what an attempt for the shared connection is doing. */
  readonly starting: (start: Start) => void;
  readonly onHint: (hint: string) => void;
}

/** Returns whether a start may take long because something is installed first. */
export function installs(transport: ServerTransport): boolean {
  return runnerOf(transport) !== undefined;
}

export function connectServer(options: ConnectServerOptions): Connect {
  const { transport, config, login, secrets, queue, starting } = options;
  const runner = runnerOf(transport);
  const own = secretsOf(transport);
  const redactOwn = createRedactor(own);
  // The secrets of a login change with each renewal, those of the entry with each start.
  const isFixed = !login && !secrets;
  const redact = (text: string): string =>
    isFixed ? redactOwn(text) : createRedactor([...own, ...(login?.secrets ?? []), ...(secrets?.values ?? [])])(text);
  let wasUp = false;
  const limitMs = (): number => {
    const { connectMs, startMs } = config.current.timeouts;
    return transport.kind !== "stdio" || (wasUp && !runner) ? connectMs : Math.max(connectMs, startMs);
  };
  const connectorOf = (complete: ServerTransport): Connect => {
    const connector = createConnector({
      ...options,
      transport: complete,
      credentials: secrets ? renewingCredentials({ transport: complete, secrets, login }) : login,
      redact,
      settings: () => {
        const { resultBytes: messageCap, unsentBytes: unsentCap } = config.current.limits;
        return { messageCap, unsentCap, connectMs: limitMs() };
      },
      onHint: (hint, owner) => {
        if (!owner) options.onHint(hint);
      },
    });
    return hidingSecrets(connector, redact);
  };
  let last: { readonly transport: string; readonly connect: Connect } | undefined;
  /** What the last connection taught about the server stays, as long as it is the same one. */
  const connector = async (): Promise<Connect> => {
    const complete = secrets ? await secrets.transport() : transport;
    const written = secrets ? JSON.stringify(complete) : "";
    if (last?.transport !== written) last = { transport: written, connect: connectorOf(complete) };
    return last.connect;
  };
  return async (events, wanted) => {
    const { owner, signal } = wanted;
    let leave: (() => void) | undefined;
    if (runner && !wasUp) {
      if (!owner && queue.isFull) starting({ what: "waits until others are installed" });
      leave = await queue.enter(signal);
    }
    if (!owner && transport.kind === "stdio") {
      starting({ what: runner ? `${runner} may be installing it` : "waits for its handshake", limitMs: limitMs() });
    }
    try {
      const [connect] = await Promise.all([connector(), login?.ready()]);
      const peer = await connect(events, wanted);
      wasUp = true;
      return peer;
    } finally {
      leave?.();
    }
  };
}

function runnerOf(transport: ServerTransport): string | undefined {
  return transport.kind === "stdio" ? packageRunnerOf(transport.command, transport.args)?.name : undefined;
}
