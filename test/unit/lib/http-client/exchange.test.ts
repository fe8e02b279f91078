/**
 * One HTTP request to a server: its answer in whatever pieces, its end exactly once, also when
 * nobody wants it any more before there is a connection.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type Exchange, type ExchangeHandler, exchange } from "../../../../src/lib/http-client/exchange.ts";
import { ConnectionPool } from "../../../../src/lib/http-client/pool.ts";
import { disposeAll, onDispose } from "../../../fixtures/peers.ts";

afterEach(disposeAll);

const CAP = 1000;

async function serve(answer: (response: ServerResponse) => void) {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests++;
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const pool = new ConnectionPool({
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    connectMs: 5000,
  });
  onDispose(() => {
    pool.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { pool, requests: () => requests };
}

/** Makes a request and tells all that its user was told. */
function ask(pool: ConnectionPool, headers: Record<string, string> = {}) {
  const told: string[] = [];
  let done: (x: Exchange) => void = () => {};
  const ended = new Promise<Exchange>((resolve) => {
    done = resolve;
  });
  const user: ExchangeHandler = {
    cap: CAP,
    started: ({ status }) => void told.push(`started ${status}`),
    message: (_, bytes) => void told.push(`message of ${bytes.length}`),
    overflow: (_, head) => void told.push(`overflow after "${head.slice(0, 3)}"`),
    done: (x) => {
      told.push("done");
      done(x);
    },
  };
  const x = exchange(pool, { head: { method: "POST", path: "/", headers }, body: "{}", id: 1 }, user);
  return { x, told, ended };
}

const json = { "content-type": "application/json" };

describe("an answer", () => {
  test.each([
    ["at the cap in one piece", [CAP], ["started 200", `message of ${CAP}`, "done"]],
    ["at the cap in three pieces", [300, 300, 400], ["started 200", `message of ${CAP}`, "done"]],
    ["over the cap in one piece", [CAP + 1], ["started 200", 'overflow after ""', "done"]],
    ["over the cap in the third piece", [300, 300, 401], ["started 200", 'overflow after "xxx"', "done"]],
    ["that is empty", [], ["started 200", "done"]],
  ] as const)("%s", async (_, pieces, expected) => {
    const { pool } = await serve(async (response) => {
      response.writeHead(200, json);
      response.flushHeaders();
      for (const size of pieces) {
        response.write("x".repeat(size));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      response.end();
    });
    const { told, ended } = ask(pool);
    const { error } = await ended;
    expect(told).toEqual(expected);
    expect(error?.message).toBe(
      expected.some((what) => what.startsWith("overflow")) ? "the answer is too large" : undefined,
    );
  });

  test("over the cap is refused once, however much of it is there at once", async () => {
    const { pool } = await serve((response) => {
      response.writeHead(200, json);
      response.cork();
      for (let i = 0; i < 5; i++) response.write("x".repeat(600));
      response.uncork();
      response.end();
    });
    const { told, ended } = ask(pool);
    await ended;
    expect(told).toEqual(["started 200", 'overflow after "xxx"', "done"]);
  });

  test("after what is only an announcement of one", async () => {
    const { pool } = await serve((response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: "</style.css>; rel=preload" });
      response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    });
    const { told, ended } = ask(pool);
    expect((await ended).status).toBe(200);
    expect(told).toEqual(["started 200", "message of 2", "done"]);
  });

  test("that is a refusal: its text and its headers, whatever their case", async () => {
    const { pool } = await serve((response) => {
      response.writeHead(503, { "Retry-After": "3", "CONTENT-TYPE": "text/plain" }).end("later");
    });
    const { status, text, retryAfter, contentType, error } = await ask(pool).ended;
    expect({ status, text, retryAfter, contentType, error }).toEqual({
      status: 503,
      text: "later",
      retryAfter: "3",
      contentType: "text/plain",
      error: undefined,
    });
  });
});

describe("a request that is given up", () => {
  test("before there is a connection is never made, and ends once", async () => {
    const { pool, requests } = await serve((response) => response.writeHead(200, json).end("{}"));
    const { x, told, ended } = ask(pool);
    x.abort();
    x.abort();
    expect((await ended).error?.message).toBe("not wanted any more");
    expect(await ask(pool).ended).toMatchObject({ status: 200, error: undefined });
    expect([told, requests()]).toEqual([["done"], 1]);
  });

  test("before there is an answer, or in the middle of one, ends once", async () => {
    const { pool } = await serve((response) => {
      if (slow) response.writeHead(200, json).write("{");
    });
    let slow = false;
    const first = ask(pool);
    setTimeout(() => first.x.abort(), 50);
    expect(await first.ended).toMatchObject({ status: undefined, error: { message: "not wanted any more" } });
    slow = true;
    const second = ask(pool);
    setTimeout(() => second.x.abort(), 100);
    expect(await second.ended).toMatchObject({ status: 200, error: { message: "not wanted any more" } });
    expect([first.told, second.told]).toEqual([["done"], ["started 200", "done"]]);
  });

  test("after its end changes nothing; one on a pool that is gone ends at once", async () => {
    const { pool } = await serve((response) => response.writeHead(200, json).end("{}"));
    const { x, told, ended } = ask(pool);
    await ended;
    x.abort();
    pool.destroy();
    const late = ask(pool);
    expect((await late.ended).error?.message).toBe("the connections to this server are closed");
    expect([told, late.told]).toEqual([["started 200", "message of 2", "done"], ["done"]]);
  });

  test("in the middle of a body never ends the request that has its connection next", async () => {
    const { pool } = await serve((response) => response.writeHead(200, json).end("{}"));
    const first = ask(pool);
    await first.ended;
    const second = ask(pool);
    first.x.abort();
    expect(await second.ended).toMatchObject({ status: 200, error: undefined });
  });
});

test.each([
  ["a line break", { "x-note": "a\r\nx-evil: 1" }, 'The header "x-note" has a character that headers cannot have'],
  ["no name", { "x note": "a" }, '"x note" cannot be the name of a header'],
  ["what ends a request", { "content-length": "0" }, 'The header "content-length" is the gateway\'s own'],
])("a header with %s is never sent", async (_, headers, message) => {
  const { pool, requests } = await serve((response) => response.writeHead(200, json).end("{}"));
  const { told, ended } = ask(pool, headers as unknown as Record<string, string>);
  expect((await ended).error?.message).toBe(message);
  expect([told, requests()]).toEqual([["done"], 0]);
});
