// @ts-check
// Requests to the gateway as a fuzzer sends them: any bytes as a body, any bytes as a whole
// request; what comes back is kept as it is.

import { Agent, request } from "node:http";
import { connect } from "node:net";

/**
 * @typedef {import("./judges.js").Seen & { headers: Record<string, string | string[] | undefined>
 * }} Answer
 */
/**
 * @typedef {{ method: string, path: string, headers: Record<string, string>, body?: Buffer,
 * stream?: boolean }} Sent `stream`: the answer need not end.
 */

export const TIMEOUT_MS = 20_000;
/** How long a stream is listened to that has no end. */
const LISTEN_MS = 50;
const agent = new Agent({ keepAlive: true, maxSockets: 32 });

/** @param {string} origin @param {Sent} sent @returns {Promise<Answer>} */
export function send(origin, { method, path, headers, body, stream = false }) {
  return new Promise((resolve) => {
    /** @type {Answer} */
    const seen = { text: "", messages: [], headers: {} };
    const chunks = /** @type {Buffer[]} */ ([]);
    const done = () => {
      clearTimeout(late);
      seen.text = Buffer.concat(chunks).toString("utf8");
      seen.messages = messagesIn(seen);
      resolve(seen);
    };
    const late = setTimeout(() => {
      seen.timedOut = true;
      made.destroy();
      done();
    }, TIMEOUT_MS);
    const url = new URL(origin);
    const made = request({ agent, host: url.hostname, port: url.port, method, path, headers }, (response) => {
      seen.status = response.statusCode ?? 0;
      seen.headers = response.headers;
      response.on("data", (chunk) => chunks.push(chunk));
      response.once("end", done);
      response.once("error", (error) => {
        seen.failed = error.message;
        done();
      });
      if (!stream) return;
      setTimeout(() => {
        made.destroy();
        done();
      }, LISTEN_MS);
    });
    made.once("error", (error) => {
      if (seen.status === undefined) seen.failed = error.message;
      done();
    });
    made.end(body);
  });
}

/**
 * A whole request in bytes, in two pieces; the answer is what comes until the connection is closed.
 * @param {string} origin
 * @param {Buffer} bytes
 * @returns {Promise<Answer>}
 */
export function sendRaw(origin, bytes) {
  return new Promise((resolve) => {
    const url = new URL(origin);
    const socket = connect(Number(url.port), url.hostname);
    const chunks = /** @type {Buffer[]} */ ([]);
    /** @param {boolean} timedOut */
    const done = (timedOut) => {
      clearTimeout(late);
      clearTimeout(quiet);
      socket.destroy();
      const text = Buffer.concat(chunks).toString("latin1");
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      resolve({ ...(status && { status: Number(status) }), text, messages: [], timedOut, headers: {} });
    };
    const late = setTimeout(() => done(true), TIMEOUT_MS);
    /**
     * Of what is no whole request the rest is waited for; our end of it ends that.
     * @type {NodeJS.Timeout | undefined}
     */
    let quiet;
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      // A keep-alive connection is not closed behind its answer.
      quiet ??= setTimeout(() => done(false), LISTEN_MS);
    });
    socket.once("close", () => done(false));
    socket.once("error", () => done(false));
    const half = Math.floor(bytes.length / 2);
    socket.write(bytes.subarray(0, half));
    setTimeout(() => {
      if (!socket.destroyed) socket.end(bytes.subarray(half));
    }, 2);
  });
}

/** @param {{ text: string, headers: Record<string, string | string[] | undefined> }} seen */
function messagesIn({ text, headers }) {
  const type = String(headers["content-type"] ?? "");
  if (type.startsWith("text/event-stream")) return eventsIn(text);
  return type.startsWith("application/json") && text !== "" ? [text] : [];
}

/** The data of the events that are there in full. @param {string} text */
export function eventsIn(text) {
  const blocks = text.split("\n\n").slice(0, -1);
  return blocks.flatMap((block) => {
    const lines = block.split("\n");
    if (lines.some((line) => line.startsWith("event: ") && line !== "event: message")) return [];
    const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice("data: ".length));
    return data.length > 0 && data.join("") !== "" ? [data.join("\n")] : [];
  });
}
