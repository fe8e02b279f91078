// @ts-check
// Streamable HTTP at /mcp. With a handshake: sessions, a GET stream, DELETE. Without one: POST
// only.

import { randomUUID } from "node:crypto";
import { createConnection } from "./connection.js";
import { bodyOf, eventOf, listen, openStream, plain } from "./web.js";

const KEPT = 200;

/**
 * @typedef {{ connection: import("./main.js").Connection, open(res:
 *   import("node:http").ServerResponse): void }} Session
 */

/** @param {import("./main.js").World} world @param {(message: object) => void} tell */
export function serveHttp(world, tell) {
  /** @type {Map<string, Session>} */
  const sessions = new Map();
  const stateless = world.modern ? createConnection(world, { push: () => {} }) : undefined;

  listen(world, tell, async (req, res) => {
    if (req.method === "POST") return post(req, res);
    if (stateless) return plain(res, 405);
    const session = sessions.get(String(req.headers["mcp-session-id"] ?? ""));
    if (!session) return plain(res, 404);
    if (req.method === "GET") return session.open(res);
    session.connection.drop();
    plain(res, 200);
  });

  /**
   * @param {import("node:http").IncomingMessage} req
   * @param {import("node:http").ServerResponse} res
   */
  async function post(req, res) {
    const body = await bodyOf(req);
    if (stateless) return stateless.receive(body, channelOf(res));
    if (body.includes('"method":"initialize"')) {
      const id = randomUUID();
      res.setHeader("mcp-session-id", id);
      return newSession(id).connection.receive(body, channelOf(res));
    }
    const id = req.headers["mcp-session-id"];
    const session = sessions.get(String(id ?? ""));
    if (!session) return plain(res, id ? 404 : 400);
    return session.connection.receive(body, channelOf(res));
  }

  /** What belongs to no request waits for the GET stream. @param {string} id @returns {Session} */
  function newSession(id) {
    /** @type {import("node:http").ServerResponse | undefined} */
    let stream;
    /** @type {string[]} */
    let waiting = [];
    const connection = createConnection(world, {
      push(text) {
        if (stream) stream.write(eventOf(text));
        else if (waiting.length < KEPT) waiting.push(text);
      },
      shut: () => void stream?.destroy(),
      lose: () => void sessions.delete(id),
    });
    const session = {
      connection,
      /** @param {import("node:http").ServerResponse} res */
      open(res) {
        openStream(res);
        stream = res;
        res.on("close", () => {
          if (stream === res) stream = undefined;
        });
        for (const text of waiting) res.write(eventOf(text));
        waiting = [];
      },
    };
    sessions.set(id, session);
    return session;
  }
}

/**
 * JSON if the answer is all there is, an event stream as soon as there is more.
 * @param {import("node:http").ServerResponse} res
 */
function channelOf(res) {
  const stream = () => void (res.headersSent || openStream(res));
  return {
    /** @param {string} text */
    send(text) {
      stream();
      res.write(eventOf(text));
    },
    /** @param {string} text */
    answer(text) {
      if (res.headersSent) return void res.end(eventOf(text));
      res.writeHead(200, { "content-type": "application/json" });
      res.end(text);
    },
    accept: () => void (res.headersSent ? res.end() : plain(res, 202)),
    cut: () => void res.destroy(),
    /** @param {string} text */
    partial(text) {
      stream();
      res.write(`event: message\ndata: ${text}`);
    },
    /** @param {number} code */
    status: (code) => plain(res, code),
    /** @param {() => void} listener */
    onClose: (listener) => void res.on("close", listener),
  };
}
