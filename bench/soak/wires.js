// @ts-check
// How a message travels between a client of the soak and a gateway: Streamable HTTP, HTTP+SSE, or a
// program's stdin and stdout. A wire knows no protocol version. What cannot have been sent (nobody
// listens) is sent again; what may have been is not.
//
// A wire tells its user: `take(message)` for each message; `ended(id, why)` when the exchange of a
// request is over, answered or not; `unsent(id)` when there is nobody to send it to; `down()` when
// everything under way is lost; `status(code)` for refusals that are no messages; `broken(text)`
// for what is no JSON.

import { spawn } from "node:child_process";
import { Agent, request } from "node:http";
import { BIN, logReader } from "./gateway.js";
import { pause } from "./wait.js";

/**
 * @typedef {{ take(message: any): void, ended(id: unknown, why: string): void, unsent(id: unknown):
 *   void, down(): void, status(code: number): void, broken(text: string): void }} User
 */
/**
 * @typedef {{ url?: string, headers: Record<string, string>, send(message: any, headers?:
 *   Record<string, string>): { abort(): void }, stand(): void, open(): Promise<void>, close():
 *   void, kill?(signal: "SIGTERM" | "SIGKILL"): Promise<void> }} ClientWire
 */

const RETRY_MS = 50;
const REFUSED = "ECONNREFUSED";
const ACCEPT = "application/json, text/event-stream";

/**
 * @param {{ url: string, headers: Record<string, string> }} target
 * @param {User} user
 * @returns {ClientWire}
 */
export function httpWire({ url, headers }, user) {
  const agent = new Agent({ keepAlive: true });
  let closed = false;
  let lastEventId = "";
  /** @type {import("node:http").ClientRequest | undefined} */
  let standing;

  const wire = {
    url,
    headers: { ...headers },
    async open() {},
    /** @param {any} message @param {Record<string, string>} [more] */
    send(message, more = {}) {
      const body = JSON.stringify(message);
      let aborted = false;
      /** @type {import("node:http").ClientRequest} */
      let req;
      const post = () => {
        const given = { ...wire.headers, ...more, "content-type": "application/json", accept: ACCEPT };
        req = request(url, { method: "POST", agent, headers: { ...given, "content-length": Buffer.byteLength(body) } });
        let failed = "";
        req.on("error", (/** @type {NodeJS.ErrnoException} */ error) => {
          if (aborted || closed) return user.ended(message.id, "aborted");
          if (error.code === REFUSED) return void setTimeout(post, RETRY_MS);
          user.ended(message.id, error.code ?? error.message);
        });
        req.on("response", (res) => {
          // The gateway says that nothing was done, and when to try again.
          if (res.statusCode === 503 && res.headers["retry-after"] !== undefined) {
            res.resume();
            return void setTimeout(post, 1000 * Number(res.headers["retry-after"]));
          }
          const session = res.headers["mcp-session-id"];
          if (typeof session === "string") wire.headers["mcp-session-id"] = session;
          if ((res.statusCode ?? 0) >= 400) user.status(res.statusCode ?? 0);
          res.on("error", (error) => {
            failed = error.message;
          });
          readMessages(res, user, () => {});
          res.on("close", () => user.ended(message.id, failed || `HTTP ${res.statusCode}, complete: ${res.complete}`));
        });
        req.end(body);
      };
      post();
      return {
        abort() {
          aborted = true;
          req.destroy();
        },
      };
    },
    /** The standing stream, opened again whenever it ends. */
    stand() {
      if (!standing) listen();
    },
    close() {
      closed = true;
      standing?.destroy();
      agent.destroy();
    },
  };
  return wire;

  function listen() {
    if (closed) return;
    const again = once(() => void (closed || setTimeout(listen, RETRY_MS)));
    const given = {
      ...wire.headers,
      accept: "text/event-stream",
      ...(lastEventId && { "last-event-id": lastEventId }),
    };
    standing = request(url, { method: "GET", agent, headers: given });
    standing.on("error", again);
    standing.on("response", (res) => {
      res.on("error", () => {});
      if (res.statusCode !== 200) {
        res.resume();
        user.status(res.statusCode ?? 0);
      } else {
        readMessages(res, user, (id) => {
          lastEventId = id;
        });
      }
      res.on("close", again);
    });
    standing.end();
  }
}

/**
 * @param {{ url: string, headers: Record<string, string> }} target
 * @param {User} user
 * @returns {ClientWire}
 */
export function sseWire({ url, headers }, user) {
  const agent = new Agent({ keepAlive: true });
  let closed = false;
  /** @type {URL | undefined} */
  let address;
  /** @type {import("node:http").ClientRequest | undefined} */
  let stream;

  const wire = {
    headers,
    /** Ends when the stream has named its address. */
    open() {
      return new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
        const attempt = () => {
          if (closed) return resolve();
          stream = request(url, { method: "GET", agent, headers: { ...headers, accept: "text/event-stream" } });
          const ended = once(() => {
            if (!address) return void setTimeout(attempt, RETRY_MS);
            address = undefined;
            if (!closed) user.down();
          });
          stream.on("error", ended);
          stream.on("response", (res) => {
            res.on("error", () => {});
            readEvents(res, ({ event, data }) => {
              if (event !== "endpoint") return parse(data, user);
              address = new URL(data, url);
              resolve();
            });
            res.on("close", ended);
          });
          stream.end();
        };
        attempt();
      });
    },
    /** @param {any} message */
    send(message) {
      const body = JSON.stringify(message);
      const sending = { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      if (!address) {
        user.unsent(message.id);
        return { abort() {} };
      }
      const req = request(address, { method: "POST", agent, headers: sending });
      req.on("error", (/** @type {NodeJS.ErrnoException} */ error) => user.ended(message.id, `POST: ${error.code}`));
      req.on("response", (res) => {
        res.resume();
        if ((res.statusCode ?? 0) >= 300) user.ended(message.id, `POST: HTTP ${res.statusCode}`);
      });
      req.end(body);
      return { abort() {} };
    },
    stand() {},
    close() {
      closed = true;
      stream?.destroy();
      agent.destroy();
    },
  };
  return wire;
}

/**
 * A gateway of the client's own, on stdin and stdout.
 * @param {{ configFile: string, name: string, problems: import("./problems.js").Problems }} target
 * @param {User} user
 * @returns {ClientWire}
 */
export function stdioWire({ configFile, name, problems }, user) {
  let closed = false;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let child;
  const wire = {
    headers: {},
    async open() {
      if (closed) return;
      const started = spawn(process.execPath, [BIN, "stdio", "--config", configFile], { stdio: "pipe" });
      child = started;
      let rest = "";
      started.stdout.setEncoding("utf8").on("data", (chunk) => {
        const lines = `${rest}${chunk}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) parse(line, user);
      });
      started.stderr.on("data", logReader(problems, name));
      started.stdin.on("error", () => {});
      started.once("close", () => {
        if (child === started) child = undefined;
        if (!closed) user.down();
      });
      await pause(0);
    },
    /** @param {any} message */
    send(message) {
      if (child) child.stdin?.write(`${JSON.stringify(message)}\n`);
      else user.unsent(message.id);
      return { abort() {} };
    },
    stand() {},
    close() {
      closed = true;
      child?.stdin?.end();
    },
    /** Resolves when the process is gone. @param {"SIGTERM" | "SIGKILL"} signal */
    async kill(signal) {
      const killed = child;
      if (!killed) return;
      killed.kill(signal);
      await new Promise((resolve) => killed.once("close", resolve));
    },
  };
  return wire;
}

/**
 * A connection may break with an error and with a close, of which only the first counts.
 * @param {() => void} run
 */
function once(run) {
  let done = false;
  return () => {
    if (!done) run();
    done = true;
  };
}

/** @param {string} text @param {User} user */
function parse(text, user) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    return user.broken(text);
  }
  user.take(message);
}

/**
 * @param {import("node:http").IncomingMessage} res
 * @param {User} user
 * @param {(id: string) => void} seen
 */
function readMessages(res, user, seen) {
  if ((res.headers["content-type"] ?? "").startsWith("text/event-stream")) {
    return readEvents(res, ({ id, data }) => {
      if (id) seen(id);
      parse(data, user);
    });
  }
  let text = "";
  res.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
  });
  res.on("end", () => {
    if (text !== "") parse(text, user);
  });
}

/**
 * @param {import("node:http").IncomingMessage} res
 * @param {(event: { event: string, data: string, id: string }) => void} each
 */
function readEvents(res, each) {
  let rest = "";
  res.setEncoding("utf8").on("data", (chunk) => {
    const blocks = `${rest}${chunk}`.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = { event: "message", data: "", id: "" };
      for (const line of block.split("\n")) {
        const at = line.indexOf(": ");
        const name = line.slice(0, at);
        if (name === "event" || name === "data" || name === "id") fields[name] = line.slice(at + 2);
      }
      if (fields.data !== "") each(fields);
    }
  });
}
