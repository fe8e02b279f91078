/**
 * Receives the redirect at the end of a login, on a port of this machine (RFC 8252).
 *
 * Only the redirect of this login counts. Whatever else asks on the port learns nothing and ends
 * nothing.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { WantedRedirect } from "../../../auth/login/attempt.ts";

export interface Callback {
  readonly redirectUri: string;
  /** Resolves with the redirect that carries this state. */
  wait(state: string): Promise<URL>;
  close(): void;
}

const WAIT_MS = 10 * 60_000;
const PAGE = `<!doctype html><meta charset="utf-8"><title>Goblin</title>
<p>That was all. Goblin goes on in the terminal; you can close this page.</p>`;

/**
 * Listens on the fixed port if there is one, else on the known one if it is free, else on any.
 * Rejects if the fixed port is taken.
 */
export async function openCallback(fixed: number | undefined, { known, tag }: WantedRedirect): Promise<Callback> {
  const server = createServer();
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  const wanted = fixed ?? (known === undefined ? 0 : Number(new URL(known).port));
  await listen(wanted).catch((error) => {
    if (fixed !== undefined) {
      throw new Error(`port ${fixed} for the redirect is taken: end what uses it, or change "auth.callbackPort"`, {
        cause: error,
      });
    }
    return listen(0);
  });
  const { port } = server.address() as AddressInfo;
  const redirectUri = `http://127.0.0.1:${port}/callback${tag && `/${tag}`}`;
  return { redirectUri, wait: (state) => waitFor(server, redirectUri, state), close: () => end(server) };
}

function waitFor(server: Server, redirectUri: string, state: string): Promise<URL> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("nobody logged in within ten minutes")), WAIT_MS);
    server.on("request", (request, response) => {
      const url = new URL(request.url ?? "/", redirectUri);
      const isOurs = url.pathname === new URL(redirectUri).pathname && url.searchParams.get("state") === state;
      response.writeHead(isOurs ? 200 : 404, {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'",
        "referrer-policy": "no-referrer",
        connection: "close",
      });
      response.end(isOurs ? PAGE : "");
      if (!isOurs) return;
      clearTimeout(late);
      resolve(url);
    });
  });
}

function end(server: Server): void {
  server.close();
  // The page may still be on its way.
  setTimeout(() => server.closeAllConnections(), 500).unref();
}
