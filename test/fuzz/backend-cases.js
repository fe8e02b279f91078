// @ts-check
// What a hostile server may say to a call: shapes of JSON times shapes of HTTP and of lines. $ID
// stands for the id of the request, and where the length is counted beforehand $PID#### for the
// same with blanks behind it.
//
// `good` is a case that any gateway has to pass on; without some of these, one that refuses
// everything would look fine.

import { broken, jsonText } from "./json.js";
import { createRandom } from "./random.js";

/** @typedef {import("./random.js").Random} Random */
/**
 * @typedef {{ what: string, how: "message" | "events" | "raw", bytes: Buffer, close?: boolean,
 * good?: boolean }} Hostile
 */

/** @param {string} mark @param {string} [more] */
const resultOf = (mark, more = "") => `{"content":[{"type":"text","text":"${mark}"}]${more}}`;
const PADDED = "$PID####";
const PAD = "x".repeat(40_000);

/** Answers that are right. @type {Record<string, (result: string) => string>} */
const right = {
  "id first": (r) => `{"jsonrpc":"2.0","id":$ID,"result":${r}}`,
  "result first": (r) => `{"result":${r},"jsonrpc":"2.0","id":$ID}`,
  "id last": (r) => `{"jsonrpc":"2.0","result":${r},"id":$ID}`,
  spaced: (r) => ` { "id" : $ID , "jsonrpc" : "2.0" , "result" : ${r} } `,
  "with more members": (r) => `{"jsonrpc":"2.0","id":$ID,"result":${r},"x":{"id":1}}`,
};

/**
 * Messages that are none, or not quite. The `mark` is that of the call.
 * @type {Record<string, (mark: string, random: Random) => string | Buffer>}
 */
const odd = {
  "two ids": (m, random) => `{"result":${resultOf(m)},"id":${random.int(9)},"jsonrpc":"2.0","id":$ID}`,
  "two ids, large": (m, random) =>
    `{"jsonrpc":"2.0","id":$ID,"result":${resultOf(m, `,"p":"${PAD}"`)},"id":${random.int(9)}}`,
  "two results": (m) => `{"jsonrpc":"2.0","id":$ID,"result":{},"result":${resultOf(m)}}`,
  "two errors": () => '{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"a"},"error":{"code":2,"message":"b"}}',
  "two messages": (m, random) =>
    `{"jsonrpc":"2.0","id":$ID,"result":${resultOf(m)}},{"jsonrpc":"2.0","id":${random.int(9)},"result":{}}`,
  "result and error": (m) => `{"jsonrpc":"2.0","id":$ID,"result":${resultOf(m)},"error":{"code":1,"message":"both"}}`,
  "an error without words": () => '{"jsonrpc":"2.0","id":$ID,"error":{}}',
  "an error that is text": () => '{"jsonrpc":"2.0","id":$ID,"error":"no"}',
  "an error that is null": () => '{"jsonrpc":"2.0","id":$ID,"error":null}',
  "an error with odd members": (_, random) =>
    `{"jsonrpc":"2.0","id":$ID,"error":{"code":${jsonText(random)},"message":${jsonText(random)},"data":${jsonText(random)}}}`,
  "a result of any kind": (m, random) => `{"jsonrpc":"2.0","id":$ID,"result":{"${m}":${jsonText(random)}}}`,
  "a result that is text": (m) => `{"jsonrpc":"2.0","id":$ID,"result":"${m}"}`,
  "a result that is a list": (m) => `{"jsonrpc":"2.0","id":$ID,"result":["${m}"]}`,
  "another version": (m) => `{"jsonrpc":"1.0","id":$ID,"result":${resultOf(m)}}`,
  "no version": (m) => `{"id":$ID,"result":${resultOf(m)}}`,
  "no id": (m) => `{"jsonrpc":"2.0","result":${resultOf(m)}}`,
  "the id null": (m) => `{"jsonrpc":"2.0","id":null,"result":${resultOf(m)}}`,
  "the id as text": (m) => `{"jsonrpc":"2.0","id":"$ID","result":${resultOf(m)}}`,
  "an id of nobody": (m) => `{"jsonrpc":"2.0","id":9$ID,"result":${resultOf(m)}}`,
  "an id too large": (m) => `{"jsonrpc":"2.0","id":99999999999999999999,"result":${resultOf(m)}}`,
  "an id with a zero before it": (m) => `{"jsonrpc":"2.0","id":0$ID,"result":${resultOf(m)}}`,
  "a batch of one": (m) => `[{"jsonrpc":"2.0","id":$ID,"result":${resultOf(m)}}]`,
  "a batch in a batch": (m) => `[[{"jsonrpc":"2.0","id":$ID,"result":${resultOf(m)}}]]`,
  "an empty batch": () => "[]",
  "names of prototypes": (m) =>
    `{"jsonrpc":"2.0","id":$ID,"__proto__":{"a":1},"result":{"__proto__":{"b":1},"constructor":"${m}"}}`,
  "a byte order mark": (m) => `\ufeff{"jsonrpc":"2.0","id":$ID,"result":${resultOf(m)}}`,
  "many levels": (m) =>
    `{"jsonrpc":"2.0","id":$ID,"result":${resultOf(m, `,"d":${"[".repeat(20_000)}${"]".repeat(20_000)}`)}}`,
  "levels without an end": (m) => `{"jsonrpc":"2.0","id":$ID,"result":${resultOf(m, `,"d":${"[".repeat(50_000)}`)}`,
  "a control character": (m) => `{"jsonrpc":"2.0","id":$ID,"result":${resultOf(`${m}\u0001`, `,"p":"${PAD}"`)}}`,
  "no UTF-8": (m, random) =>
    Buffer.concat([
      Buffer.from(`{"jsonrpc":"2.0","id":$ID,"result":{"${m}":"${random.chance(0.5) ? PAD : ""}`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}}'),
    ]),
  "a request with our id": () => '{"jsonrpc":"2.0","id":$ID,"method":"sampling/createMessage","params":{}}',
  "nothing that is JSON": () => "<html>no</html>",
  nothing: () => "",
  null: () => "null",
};

/**
 * Ways to say a message over HTTP; `fine` ones change nothing about it.
 * @type {Record<string, { fine?: boolean, say: (body: Buffer, random: Random) => Omit<Hostile,
 * "what" | "good"> }>}
 */
const overHttp = {
  json: { fine: true, say: (body) => ({ how: "message", bytes: body }) },
  event: { fine: true, say: (body) => ({ how: "events", bytes: event(body) }) },
  "event in lines": {
    say: (body) => ({
      how: "events",
      bytes: Buffer.from(`data: ${body.toString("latin1").replaceAll(",", ",\ndata: ")}\n\n`, "latin1"),
    }),
  },
  "events around": {
    fine: true,
    say: (body) => ({
      how: "events",
      bytes: Buffer.concat([
        Buffer.from(": hi\n\nid: 1\nretry: 5000\ndata:\n\nevent: other\ndata: x\n\n"),
        event(body),
      ]),
    }),
  },
  "an event without an end": { say: (body) => ({ how: "events", bytes: event(body).subarray(0, -2) }) },
  "an event cut off": {
    say: (body, random) => ({ how: "events", bytes: event(body).subarray(0, random.int(body.length + 1)) }),
  },
  chunks: { fine: true, say: (body) => raw(["transfer-encoding: chunked"], chunked(body, 7)) },
  "chunks without an end": {
    say: (body) => raw(["transfer-encoding: chunked"], chunked(body, 7).subarray(0, -5), true),
  },
  "a bad chunk": {
    say: (body) => raw(["transfer-encoding: chunked"], Buffer.concat([Buffer.from("zz\r\n"), body]), true),
  },
  "the end of the connection": { fine: true, say: (body) => raw([], body, true) },
  "too short": { say: (body) => raw([`content-length: ${body.length + 10}`], body, true) },
  "too long": { say: (body) => raw([`content-length: ${Math.max(0, body.length - 10)}`], body, true) },
  "two lengths": { say: (body) => raw([`content-length: ${body.length}`, "content-length: 3"], body, true) },
  "a length and chunks": {
    say: (body) => raw([`content-length: ${body.length}`, "transfer-encoding: chunked"], chunked(body, 9), true),
  },
  "a length that is not a number": { say: (body) => raw(["content-length: -1"], body, true) },
  "two answers": {
    say: (body) =>
      raw(
        [`content-length: ${body.length}`],
        Buffer.concat([body, head(200, [`content-length: ${body.length}`]), body]),
        true,
      ),
  },
  "another encoding": { say: (body) => raw([`content-length: ${body.length}`, "content-encoding: gzip"], body) },
  "an interim answer": {
    fine: true,
    say: (body) => ({
      how: "raw",
      bytes: Buffer.concat([
        Buffer.from("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"),
        head(200, [`content-length: ${body.length}`]),
        body,
      ]),
    }),
  },
  "HTTP/1.0": {
    say: (body) => ({
      how: "raw",
      close: true,
      bytes: Buffer.concat([Buffer.from("HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n"), body]),
    }),
  },
  "no HTTP": { say: (body) => ({ how: "raw", close: true, bytes: body }) },
  "headers without an end": {
    say: () => ({
      how: "raw",
      close: true,
      bytes: Buffer.from("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"),
    }),
  },
  "headers too large": {
    say: (body) => raw([`x: ${"y".repeat(100_000)}`, `content-length: ${body.length}`], body, true),
  },
  "a header without a colon": { say: (body) => raw(["no colon here", `content-length: ${body.length}`], body, true) },
  "bytes changed": {
    say: (body, random) => ({
      how: "raw",
      close: true,
      bytes: broken(random, Buffer.concat([head(200, [`content-length: ${body.length}`]), body])),
    }),
  },
  "plain text": {
    say: (body) => ({
      how: "raw",
      bytes: Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\n\r\n`),
        body,
      ]),
    }),
  },
  hangup: { say: () => ({ how: "raw", close: true, bytes: Buffer.alloc(0) }) },
};
for (const status of [201, 202, 204, 301, 400, 401, 403, 410, 418, 429, 500, 503]) {
  overHttp[`status ${status}`] = {
    say: (body) => ({
      how: "raw",
      close: true,
      bytes: Buffer.concat([head(status, [`content-length: ${body.length}`]), body]),
    }),
  };
}

/** Ways to say it on a pipe or on one common stream. @type {typeof overHttp} */
const inLines = {
  line: { fine: true, say: (body) => ({ how: "message", bytes: body }) },
  "behind garbage": {
    say: (body) => ({ how: "message", bytes: Buffer.concat([Buffer.from("Debugger listening\n"), body]) }),
  },
  "bytes changed": { say: (body, random) => ({ how: "message", bytes: broken(random, body) }) },
};

/**
 * The case of this number for a server.
 * @param {{ seed: number, index: number, transport: string, mark: string }} of
 * @returns {Hostile}
 */
export function hostileCase({ seed, index, transport, mark }) {
  const random = createRandom(seed, index);
  const ways = transport === "http" ? overHttp : inLines;
  const way = random.pick(Object.keys(ways));
  const chosen = /** @type {typeof overHttp[string]} */ (ways[way]);
  const isRight = random.chance(0.25);
  const shape = random.pick(Object.keys(isRight ? right : odd));
  const message = isRight
    ? right[shape]?.(resultOf(mark, random.chance(0.3) ? `,"p":"${PAD}"` : ""))
    : odd[shape]?.(mark, random);
  // A line break ends a message on a pipe, and an event.
  const body = Buffer.from(/** @type {string} */ (message ?? ""));
  const first = chosen.say(body, random);
  const said =
    first.how === "raw"
      ? chosen.say(Buffer.from(body.toString("latin1").replaceAll("$ID", PADDED), "latin1"), random)
      : first;
  return { what: `${shape}, as ${way}`, ...said, good: isRight && chosen.fine === true };
}

/** @param {Buffer} body */
function event(body) {
  return Buffer.concat([Buffer.from("event: message\ndata: "), body, Buffer.from("\n\n")]);
}

/** @param {number} status @param {string[]} headers */
function head(status, headers) {
  return Buffer.from(
    `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\n${headers.map((h) => `${h}\r\n`).join("")}\r\n`,
  );
}

/**
 * @param {string[]} headers
 * @param {Buffer} body
 * @param {boolean} [close]
 * @returns {Omit<Hostile, "what" | "good">}
 */
function raw(headers, body, close = false) {
  return { how: "raw", close, bytes: Buffer.concat([head(200, headers), body]) };
}

/** @param {Buffer} body @param {number} size */
function chunked(body, size) {
  const parts = [];
  const step = Math.max(size, Math.ceil(body.length / 50));
  for (let at = 0, end = 0; at < body.length; at = end) {
    end = at + step;
    // The place of the id stays in one piece.
    const place = body.indexOf(PADDED, Math.max(0, end - PADDED.length));
    if (place !== -1 && place < end) end = place + PADDED.length;
    const piece = body.subarray(at, end);
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}
