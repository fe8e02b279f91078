/**
 * Answers of HTTP/1.1 servers, in whatever pieces they come: the same head, body and end; and an
 * error wherever it is not clear what belongs to an answer.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AnswerHead,
  MalformedResponseError,
  ResponseParser,
} from "../../../../src/lib/http-client/response-parser.ts";

interface Read {
  head: AnswerHead | undefined;
  body: string;
  complete: boolean;
  reusable: boolean;
  keepAliveMs: number | undefined;
  /** What was left when the answer was complete. */
  rest: string;
}

/** Reads these pieces from memory that each of them overwrites, as a connection does. */
function readAll(pieces: readonly Buffer[]): Read {
  let head: AnswerHead | undefined;
  let body = "";
  let rest = "";
  const reader = new ResponseParser({
    head: (given) => {
      expect(head).toBeUndefined();
      head = given;
    },
    body: (lent) => {
      expect(lent.length).toBeGreaterThan(0);
      body += lent.toString("latin1");
    },
  });
  const memory = Buffer.alloc(Math.max(1, ...pieces.map(({ length }) => length)));
  for (const piece of pieces) {
    piece.copy(memory);
    const used = reader.read(memory.subarray(0, piece.length));
    rest += piece.toString("latin1", used);
    memory.fill(0);
  }
  return { head, body, complete: reader.complete, reusable: reader.reusable, keepAliveMs: reader.keepAliveMs, rest };
}

const read = (...pieces: string[]): Read => readAll(pieces.map((piece) => Buffer.from(piece, "latin1")));

function cutAt(whole: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, i) => whole.slice(from, places[i] ?? whole.length)).filter((piece) => piece !== "");
}

function chunked(body: string, sizes: readonly number[], trailer: string): string {
  let text = "";
  let at = 0;
  for (let i = 0; at < body.length; i++) {
    const size = 1 + ((sizes[i % sizes.length] ?? 0) % 40);
    const chunk = body.slice(at, at + size);
    text += `${chunk.length.toString(16)}${i % 3 === 1 ? ";x=y" : ""}\r\n${chunk}\r\n`;
    at += size;
  }
  return `${text}0\r\n${trailer}\r\n`;
}

describe("an answer", () => {
  test("is the same in every cut, whatever says its length", () => {
    const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array).toString("latin1"));
    fc.assert(
      fc.property(
        fc.record({
          body: bytes,
          framing: fc.constantFrom("length", "chunks"),
          sizes: fc.array(fc.nat(1000), { minLength: 1, maxLength: 5 }),
          trailer: fc.constantFrom("", "x-sum: 1\r\n"),
          hints: fc.nat(2),
          rest: fc.constantFrom("", "HTTP/1.1 200 OK\r\n"),
          cuts: fc.array(fc.nat(2000), { maxLength: 8 }),
        }),
        ({ body, framing, sizes, trailer, hints, rest, cuts }) => {
          const says = framing === "length" ? `CONTENT-Length:  ${body.length}\t` : "Transfer-Encoding: Chunked";
          const lines = ["HTTP/1.1 200 All right: ok", "X-One:1", "x-two: a: b", "X-Empty:", says, "", ""];
          const hint = `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n`;
          const sent = framing === "length" ? body : chunked(body, sizes, trailer);
          const whole = hint.repeat(hints) + lines.join("\r\n") + sent;
          const answer = read(...cutAt(whole, cuts), ...(rest ? [rest] : []));
          expect(answer).toEqual({
            head: {
              status: 200,
              headers: [
                "x-one",
                "1",
                "x-two",
                "a: b",
                "x-empty",
                "",
                ...(framing === "length" ? ["content-length", String(body.length)] : ["transfer-encoding", "Chunked"]),
              ],
              length: framing === "length" ? body.length : undefined,
            },
            body,
            complete: true,
            reusable: true,
            keepAliveMs: undefined,
            rest,
          });
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([
    ["of HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", false],
    [
      "of HTTP/1.0 that keeps the connection",
      "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n",
      true,
    ],
    ["that says close", "HTTP/1.1 200 OK\r\nConnection: Close\r\ncontent-length: 0\r\n\r\n", false],
    [
      "that says close, then keep",
      "HTTP/1.1 200 OK\r\nconnection: close\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n",
      false,
    ],
    [
      "with both kinds of length",
      "HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      false,
    ],
    ["with the same length twice", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 0\r\n\r\n", true],
    ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", true],
    ["without a body, whatever it says", "HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n", true],
  ])("%s: whether the connection stays", (_, text, reusable) => {
    expect(read(text)).toMatchObject({ complete: true, reusable, body: "" });
  });

  test("tells for how long the server keeps the connection", () => {
    const text = "HTTP/1.1 200 OK\r\nKeep-Alive: max=10, timeout=7\r\ncontent-length: 0\r\n\r\n";
    expect(read(text).keepAliveMs).toBe(7000);
  });

  test("without a length ends with the connection, and no other does", () => {
    let body = "";
    const reader = new ResponseParser({
      head: () => {},
      body: (lent) => {
        body += lent;
      },
    });
    reader.read(Buffer.from("HTTP/1.1 200 OK\r\n\r\nabc"));
    reader.read(Buffer.from("def"));
    expect([reader.complete, reader.end(), reader.complete, reader.reusable, body]).toEqual([
      false,
      true,
      true,
      false,
      "abcdef",
    ]);
    for (const begun of [
      "",
      "HTTP/1.1 2",
      "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nab",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n",
    ]) {
      const broken = new ResponseParser({ head: () => {}, body: () => {} });
      broken.read(Buffer.from(begun));
      expect([begun, broken.end()]).toEqual([begun, false]);
    }
  });

  test("is followed by the next one", () => {
    const told: unknown[] = [];
    const reader = new ResponseParser({
      head: ({ status }) => void told.push(status),
      body: (lent) => void told.push(lent.toString()),
    });
    for (const status of [200, 404]) {
      reader.next();
      reader.read(
        Buffer.from(
          `HTTP/1.1 ${status} x\r\nconnection: ${status === 200 ? "close" : "keep-alive"}\r\ncontent-length: 1\r\n\r\n${status % 10}`,
        ),
      );
      told.push(reader.complete, reader.reusable);
    }
    expect(told).toEqual([200, "0", true, false, 404, "4", true, true]);
  });
});

describe("what is no answer is an error that says why", () => {
  const ok = "HTTP/1.1 200 OK\r\n";
  test.each([
    ["SSH-2.0-OpenSSH_9.2\r\n", "The answer is not HTTP/1.1"],
    ["HTTP/2 200\r\n\r\n", "The answer is not HTTP/1.1"],
    ["HTTP/1.1 200 OK\ncontent-length: 0\n\n", "A line in the head of the answer does not end with CRLF"],
    [`${ok}x: 1\nz: 2\r\n\r\n`, "A line in the head of the answer does not end with CRLF"],
    ["HTTP/1.1 OK\r\n\r\n", "The answer is not HTTP/1.1"],
    ["HTTP/1.1 99 OK\r\n\r\n", "The answer is not HTTP/1.1"],
    ["HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", "The server switched to a protocol other than HTTP/1.1"],
    [`${ok}content-length: 1\r\ncontent-length: 2\r\n\r\n`, "The length of the answer is not clear"],
    [`${ok}content-length: 1, 1\r\n\r\n`, "The length of the answer is not clear"],
    [`${ok}content-length: -1\r\n\r\n`, "The length of the answer is not clear"],
    [`${ok}content-length: 0x10\r\n\r\n`, "The length of the answer is not clear"],
    [`${ok}content-length: \r\n\r\n`, "The length of the answer is not clear"],
    [`${ok}transfer-encoding: gzip, chunked\r\n\r\n`, "The answer has an unknown transfer encoding"],
    [
      `${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`,
      "The answer has an unknown transfer encoding",
    ],
    [`${ok}no colon\r\n\r\n`, "A header of the answer has no name"],
    [`${ok}: nameless\r\n\r\n`, "A header of the answer has no name"],
    [`${ok}content-length : 5\r\n\r\n`, "A header of the answer has no name"],
    [`${ok}x: 1\r\n folded: 2\r\n\r\n`, "A header of the answer has no name"],
    [`${ok}transfer-encoding: chunked\r\n\r\nxyz\r\n`, "A chunk of the answer has no size"],
    [`${ok}transfer-encoding: chunked\r\n\r\n-1\r\n`, "A chunk of the answer has no size"],
    [`${ok}transfer-encoding: chunked\r\n\r\nfffffffffffff\r\n`, "A chunk of the answer has no size"],
    [`${ok}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n`, "A chunk of the answer is longer than its size"],
    [
      `${ok}transfer-encoding: chunked\r\n\r\n0\r\nx: ${"y".repeat(17_000)}`,
      "A line between the chunks of the answer is too long",
    ],
    [`${ok}x: ${"y".repeat(66_000)}`, "The head of the answer has more than 65536 bytes"],
  ])("%j", (text, message) => {
    expect(() => read(text)).toThrow(message);
    expect(() => read(...[...text.slice(0, 40)], text.slice(40))).toThrow(message);
    expect(() => read(text)).toThrow(MalformedResponseError);
  });

  test("and nothing else is ever thrown, whatever comes", () => {
    const piece = fc.constantFrom(
      "HTTP/1.1 ",
      "200",
      " OK",
      "\r\n",
      "\n",
      "content-length: ",
      "transfer-encoding: chunked",
      "5",
      "0",
      "\r\n\r\n",
      "x: y",
      ";",
      "a",
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 5, arbitrary: piece }, { weight: 1, arbitrary: fc.string() }), { maxLength: 30 }),
        (pieces) => {
          try {
            read(...pieces.filter((text) => text !== ""));
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedResponseError);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});
