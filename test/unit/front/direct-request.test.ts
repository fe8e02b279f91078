/** The headers of a request are Node's own, whatever came before on its connection. */
import { createServer, IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { DirectRequest } from "../../../src/front/http/node/direct-request.ts";
import { disposeAll, onDispose } from "../../fixtures/dispose.ts";
import { until } from "../../fixtures/until.ts";

afterEach(disposeAll);

type Header = readonly [name: string, value: string];

async function listen(Request: typeof IncomingMessage) {
  const seen: unknown[] = [];
  const server = createServer({ IncomingMessage: Request }, (request, response) => {
    seen.push([Object.entries(request.headers), request.headers.host]);
    // What a handler does to its headers is its own affair.
    request.headers["x-token"] = "changed";
    delete request.headers.host;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onDispose(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  /** Sends the requests on one connection, and returns their headers. */
  return async (requests: readonly (readonly Header[])[]): Promise<unknown[]> => {
    seen.length = 0;
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.resume();
    socket.write(
      requests
        .map(
          (headers) => `GET / HTTP/1.1\r\nhost: a\r\n${headers.map((line) => `${line.join(": ")}\r\n`).join("")}\r\n`,
        )
        .join(""),
    );
    await until(() => seen.length === requests.length);
    socket.destroy();
    return [...seen];
  };
}

const name = fc.constantFrom(
  "x-token",
  "X-Token",
  "Mcp-Session-Id",
  "mcp-session-id",
  "accept",
  "Cookie",
  "set-cookie",
  "__proto__",
  "constructor",
  "Authorization",
  "traceparent",
  "user-agent",
  "toString",
  "x-forwarded-for",
);
/** Three of them are too long to be remembered, and six are not too long for Node. */
const LONG = "x".repeat(2000);
const value = fc.oneof(fc.constantFrom("", "a", "b", "application/json", LONG), fc.stringMatching(/^[!-~]{0,20}$/));
const headers = fc.array(fc.tuple(name, value), { maxLength: 6 });
/** Requests, most of which resemble the one before. */
const requests = fc
  .array(fc.tuple(headers, fc.integer({ min: 1, max: 3 }), fc.array(value, { maxLength: 3 })), {
    minLength: 1,
    maxLength: 4,
  })
  .map((all) =>
    all.flatMap(([list, times, values]) =>
      Array.from({ length: times }, (_, n) =>
        list.map(([key, first], i): Header => [key, n > 0 && i === n - 1 ? (values[n - 1] ?? first) : first]),
      ),
    ),
  );

test("headers are those that Node reads", async () => {
  const [ours, nodes] = await Promise.all([listen(DirectRequest as typeof IncomingMessage), listen(IncomingMessage)]);
  await fc.assert(
    fc.asyncProperty(requests, async (list) => {
      const [got, expected] = await Promise.all([ours(list), nodes(list)]);
      expect(got).toEqual(expected);
    }),
    { numRuns: 200 },
  );
});
