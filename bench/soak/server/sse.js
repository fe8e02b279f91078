// @ts-check
// HTTP+SSE of 2024-11-05: GET /sse is the stream of a connection, POST /messages its way in.

import { randomUUID } from "node:crypto";
import { createConnection } from "./connection.js";
import { bodyOf, eventOf, listen, openStream, plain } from "./web.js";

/** @param {import("./main.js").World} world @param {(message: object) => void} tell */
export function serveSse(world, tell) {
  /**
   * @type {Map<string, { connection: import("./main.js").Connection, stream:
   *   import("node:http").ServerResponse }>}
   */
  const sessions = new Map();

  listen(world, tell, async (req, res, url) => {
    if (req.method === "GET") return open(res);
    const body = await bodyOf(req);
    const session = sessions.get(url.searchParams.get("sessionId") ?? "");
    if (!session) return plain(res, 404);
    const { connection, stream } = session;
    plain(res, 202);
    const send = (/** @type {string} */ text) => void stream.write(eventOf(text));
    await connection.receive(body, {
      send,
      answer: send,
      accept: () => {},
      cut: () => void stream.destroy(),
      partial: (text) => void stream.write(`event: message\ndata: ${text}`),
    });
  });

  /** @param {import("node:http").ServerResponse} res */
  function open(res) {
    const id = randomUUID();
    openStream(res);
    const connection = createConnection(world, {
      push: (text) => void res.write(eventOf(text)),
      shut: () => void res.destroy(),
      lose: () => void sessions.delete(id),
    });
    sessions.set(id, { connection, stream: res });
    res.on("close", () => {
      sessions.delete(id);
      connection.close();
    });
    res.write(`event: endpoint\ndata: /messages?sessionId=${id}\n\n`);
  }
}
