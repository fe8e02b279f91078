/**
 * Connects to a server as its config entry describes: opens the right transport and detects which
 * era the server speaks.
 *
 * For a URL, the modern protocol is tried first, which costs one request. For a program, the
 * handshake is tried first, because some programs exit on any other first message. If the program
 * refuses it, the modern protocol is tried on the same process. The need for a handshake is
 * remembered for a while, and forgotten when it fails. A server over HTTP that speaks both eras
 * serves each client in the client's own: clients with a session get a connection with a handshake,
 * if the server keeps a session for it. Without that the server could not ask them anything. If an
 * entry has no `type`, a URL that refuses Streamable HTTP is tried as HTTP+SSE. A redirect is
 * followed when the connection is made, with a new attempt at its target.
 */

import type { Credentials } from "../links/http/credentials.ts";
import type { Link, OpenLink } from "../links/link.ts";
import type { Redirect } from "../links/redirect.ts";
import { ServerBytes } from "../links/server-bytes.ts";
import { sseLink } from "../links/sse.ts";
import { stdioLink } from "../links/stdio.ts";
import { type HttpOptions, httpLink } from "../links/streamable-http.ts";
import type { LinkTap, MakeTap } from "../links/tap.ts";
import type { ServerTransport } from "../links/transport.ts";
import type { Client } from "../protocol/call.ts";
import { GoblinError, messageOf } from "../protocol/errors.ts";
import type { OnLimit } from "../protocol/limit-exceeded.ts";
import { connectLegacy, type LegacyConnectOptions } from "./legacy/connect.ts";
import { HandshakeRefused } from "./legacy/handshake.ts";
import { connectModern } from "./modern/connect.ts";
import type { Peer, PeerEvents } from "./peer.ts";

export type { LinkTap };

export interface ConnectorOptions {
  readonly transport: ServerTransport;
  /** Undefined: whatever the server speaks. */
  readonly era: "legacy" | "modern" | undefined;
  readonly clientInfo: Readonly<Record<string, unknown>>;
  /** Resolves to what the only client says of itself; undefined: several may share a connection. */
  readonly introduction?: () => Promise<Pick<Client, "capabilities" | "info"> | undefined>;
  /** Read for each connection, so that a new config takes effect. */
  readonly settings: () => ConnectSettings;
  readonly onLimit: OnLimit;
  /** For a remote server; `transport.headers` stay as they are. */
  readonly credentials?: Credentials | undefined;
  readonly stderr: (line: string) => void;
  /** Hides the server's secrets in a text that it wrote. */
  readonly redact: (text: string) => string;
  /** Called with what the server said in place of a handshake. */
  readonly onHint: (hint: string, owner: Client | undefined) => void;
  /** Returns the input schema of one of the server's tools. */
  readonly inputSchema: (tool: string) => unknown;
  /** Makes a listener for the messages of a new connection. */
  readonly tap?: MakeTap | undefined;
}

export interface ConnectSettings {
  readonly messageCap: number;
  readonly unsentCap: number;
  /** The time limit for the handshake. */
  readonly connectMs: number;
}

/** The connection that is wanted. */
export interface Wanted {
  /** The client whose own connection it is; undefined: clients share it. */
  readonly owner?: Client | undefined;
  /** It must list what the shared connection lists, so it declares the same capabilities. */
  readonly asShared?: boolean;
  /**
   * Only clients with a session share it. Rejects with the reason "unoffered" if the server cannot
   * keep one.
   */
  readonly forSessions?: boolean;
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
}

export type Connect = (events: PeerEvents, wanted: Wanted) => Promise<Peer>;

interface Attempt extends Wanted {
  readonly events: PeerEvents;
  readonly connectMs: number;
}

/**
 * A shared connection accepts every kind of question. The gateway chooses the client when a
 * question arrives.
 */
const SHARED_CAPABILITIES = {
  sampling: { tools: {}, context: {} },
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
} as const;

const PROBE_MS = 5000;
const VERDICT_MS = 3_600_000;
const MAX_REDIRECTS = 5;

type HandshakeNeeds = Pick<LegacyConnectOptions, "keepsLink" | "needsSession">;

export function createConnector(options: ConnectorOptions): Connect {
  const { transport, era, onLimit, tap } = options;
  /** Until this time the server is assumed to need the handshake. */
  let handshakeUntil = 0;

  const withHandshake = async (open: OpenLink, attempt: Attempt, more: HandshakeNeeds = {}): Promise<Peer> => {
    const { events, owner, asShared, signal, connectMs } = attempt;
    const client = owner ?? (await options.introduction?.());
    return connectLegacy({
      ...more,
      open,
      events,
      clientInfo: client?.info["name"] === undefined ? options.clientInfo : client.info,
      capabilities: (asShared ? undefined : client?.capabilities) ?? SHARED_CAPABILITIES,
      connectMs,
      signal,
    });
  };
  const withoutHandshake = (open: OpenLink, { events, signal, connectMs }: Attempt): Promise<Peer | undefined> =>
    connectModern({
      open,
      events,
      clientInfo: options.clientInfo,
      connectMs,
      signal,
      cancelByClosing: transport.kind !== "stdio",
      sessionsApart: transport.kind !== "stdio" && era === undefined,
      inputSchema: options.inputSchema,
    });

  if (transport.kind === "stdio") {
    return async (events, wanted) => {
      const { messageCap, unsentCap, connectMs } = options.settings();
      const attempt = { ...wanted, events, connectMs };
      const { stderr, redact } = options;
      const onHint = (hint: string): void => options.onHint(hint, wanted.owner);
      const open = stdioLink({ ...transport, messageCap, unsentCap, onLimit, stderr, redact, onHint, tap });
      if (era === "modern") return found(await withoutHandshake(open, attempt));
      try {
        return await withHandshake(open, attempt, { keepsLink: era === undefined });
      } catch (error) {
        if (!(error instanceof HandshakeRefused) || era !== undefined) throw error;
        const peer = await withoutHandshake(reuse(error.link, open), attempt).catch(() => undefined);
        if (peer) return peer;
        await error.link?.close();
        throw error;
      }
    };
  }

  /** Connects as the server does with a client that has a session, if the server keeps one. */
  const withSession = (open: OpenLink, attempt: Attempt): Promise<Peer> => {
    const connectMs = Math.min(PROBE_MS, attempt.connectMs);
    return withHandshake(open, { ...attempt, connectMs }, { needsSession: true }).catch((error: unknown) => {
      if (isSettled(error) || attempt.signal.aborted) throw error;
      throw new GoblinError("BACKEND_UNAVAILABLE", messageOf(error), { reason: "unoffered", cause: error });
    });
  };

  const bytes = new ServerBytes(options.settings);
  const connectTo = async (remote: HttpOptions, attempt: Attempt, isRedirected: () => boolean): Promise<Peer> => {
    const http = httpLink(remote);
    const sse = sseLink(remote);
    if (transport.kind === "sse") return withHandshake(sse, attempt);
    if (era === "modern") return found(await withoutHandshake(http, attempt));
    if (attempt.forSessions) return withSession(http, attempt);
    if (era === undefined && handshakeUntil < Date.now()) {
      const own = attempt.owner?.hasSession ? await withSession(http, attempt).catch(ifOffered) : undefined;
      if (own) return own;
      const connectMs = Math.min(PROBE_MS, attempt.connectMs);
      const peer = isRedirected() ? undefined : await withoutHandshake(http, { ...attempt, connectMs });
      if (peer) return peer;
      if (isRedirected()) throw new GoblinError("BACKEND_UNAVAILABLE", "The server redirects to another address");
    }
    try {
      const peer = await withHandshake(http, attempt);
      handshakeUntil = Date.now() + VERDICT_MS;
      return peer;
    } catch (first) {
      handshakeUntil = 0;
      if (first instanceof HandshakeRefused && first.speaksModern && era === undefined && !isRedirected()) {
        const peer = await withoutHandshake(http, attempt);
        if (peer) return peer;
      }
      if (transport.kind === "http" || attempt.signal.aborted || isSettled(first) || isRedirected()) throw first;
      return withHandshake(sse, attempt).catch((second: unknown) => {
        throw isRedirected() ? second : first;
      });
    }
  };

  return async (events, wanted) => {
    const { messageCap, connectMs } = options.settings();
    const { redact } = options;
    const attempt = { ...wanted, events, connectMs };
    let { url, headers } = transport;
    let { credentials } = options;
    for (let redirects = 0; ; redirects++) {
      let redirect: Redirect | undefined;
      const onRedirect = (found: Redirect): void => {
        if (found.isFollowed) redirect = found;
      };
      const remote = { url, headers, messageCap, onLimit, connectMs, redact, onRedirect, bytes, credentials, tap };
      try {
        return await connectTo(remote, attempt, () => redirect !== undefined);
      } catch (error) {
        if (redirect === undefined || redirects >= MAX_REDIRECTS || wanted.signal.aborted) {
          throw headers === transport.headers ? error : withoutCredentials(error, url);
        }
        url = redirect.target.href;
        // Credentials go to the origin that they were given for, and to no other.
        if (redirect.isSameOrigin) continue;
        if (Object.keys(headers).length > 0) headers = {};
        const { credentials: login } = options;
        credentials = login && !login.areHeaders ? withheld(login, redirect.target.origin) : undefined;
      }
    }
  };
}

function found(peer: Peer | undefined): Peer {
  if (peer) return peer;
  const message = 'The server does not speak 2026-07-28, which "era": "modern" asks for; set era to "auto"';
  throw new GoblinError("BACKEND_UNAVAILABLE", message);
}

/** Turns the error of a server without such a connection into undefined. */
function ifOffered(error: unknown): undefined {
  if (error instanceof GoblinError && error.reason === "unoffered") return undefined;
  throw error;
}

/** Whether another transport would fail for the same reason. */
function isSettled(error: unknown): boolean {
  return error instanceof GoblinError && error.reason !== undefined;
}

/** Says that a redirect has cost the server its "headers". */
function withoutCredentials(error: unknown, url: string): GoblinError {
  const advice = `after a redirect its "headers" are not sent to ${new URL(url).origin}; put that address into its "url"`;
  const reason = error instanceof GoblinError ? error.reason : undefined;
  return new GoblinError("BACKEND_UNAVAILABLE", `${messageOf(error)}; ${advice}`, { reason, cause: error });
}

/** A login is not sent to another origin. If the server asks for one there, its error says so. */
function withheld(login: Credentials, origin: string): Credentials {
  const advice = `after a redirect its login is not sent to ${origin}; put that address into its "url"`;
  return {
    header: undefined,
    refused: async ({ status, challenge }) => {
      if (status !== 401 || (challenge === undefined && login.header === undefined)) return "unknown";
      return new GoblinError("BACKEND_UNAVAILABLE", `The server asks for a login (HTTP 401): ${advice}`);
    },
  };
}

/** Opens the link of a refused handshake again, or a new one if that has closed. */
function reuse(link: Link | undefined, open: OpenLink): OpenLink {
  return async (events, signal) => (link?.redirect?.(events) ? link : open(events, signal));
}
