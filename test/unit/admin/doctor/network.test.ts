/** The way to a remote server: certificate, clock, proxy, and nobody there. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { examineAddress } from "../../../../src/admin/doctor/network.ts";
import { cert, key } from "../../../fixtures/certificate.ts";
import { disposeAll, onDispose } from "../../../fixtures/dispose.ts";

afterEach(disposeAll);

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onDispose(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const plain: RequestListener = (_request, response) => void response.writeHead(405).end();
const codes = (found: { level: string; code: string }[]) => found.map(({ level, code }) => `${level} ${code}`);
const env = {};

test("a server that answers in time is fine", async () => {
  const port = await listening(createServer(plain));
  expect(await examineAddress("one", `http://127.0.0.1:${port}/mcp`, { env })).toEqual([]);
});

test("a clock that is wrong is found, with its direction", async () => {
  const port = await listening(createServer(plain));
  const at = (ms: number) => examineAddress("one", `http://127.0.0.1:${port}/mcp`, { env, now: () => Date.now() + ms });
  const [ahead] = await at(600_000);
  expect(ahead).toMatchObject({
    level: "warning",
    code: "clock",
    what: expect.stringMatching(/clock is 6\d\d s ahead of/),
  });
  const [behind] = await at(-600_000);
  expect(behind?.what).toMatch(/clock is (6\d\d|59\d) s behind/);
});

test("a certificate that nobody trusts is found, and its end", async () => {
  const port = await listening(createSecureServer({ key, cert }, plain));
  const [found] = await examineAddress("one", `https://localhost:${port}/mcp`, { env });
  expect(found).toMatchObject({ level: "error", code: "tls", remedy: expect.stringContaining("NODE_EXTRA_CA_CERTS") });
  const late = Date.parse("2150-01-01");
  const [over] = await examineAddress("one", `https://localhost:${port}/mcp`, { env, now: () => late });
  expect(over).toMatchObject({
    code: "tls",
    what: expect.stringContaining("ended on 2126"),
    remedy: "have it renewed",
  });
});

test("nobody there, a name that does not exist and no TLS are told apart", async () => {
  const port = await listening(createServer(plain));
  const [noTls] = await examineAddress("one", `https://127.0.0.1:${port}/mcp`, { env });
  expect(noTls).toMatchObject({ level: "error", code: "unreachable" });
  const [nobody] = await examineAddress("one", "http://127.0.0.1:9/mcp", { env });
  expect(nobody).toMatchObject({ code: "unreachable", what: expect.stringContaining("nobody listens there") });
});

test("a proxy is named and used; one of another kind is told", async () => {
  const port = await listening(createServer(plain));
  const proxy = createServer();
  let asked = "";
  proxy.on("connect", (request, socket) => {
    asked = String(request.url);
    const other = connect(port, "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
    socket.pipe(other).pipe(socket);
  });
  const proxyPort = await listening(proxy);
  const through = await examineAddress("one", "http://server.invalid/mcp", {
    env: { http_proxy: `127.0.0.1:${proxyPort}` },
  });
  expect(codes(through)).toEqual(["note proxy"]);
  expect(asked).toBe("server.invalid:80");
  const socks = await examineAddress("one", `http://127.0.0.1:${port}/`, {
    env: { ALL_PROXY: "socks5://127.0.0.1:1" },
  });
  expect(codes(socks)).toEqual(["warning proxy"]);
});
