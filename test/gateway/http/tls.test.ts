/**
 * The gateway with a certificate of its own: who reaches it, what happens when the files change,
 * what is said when they are no good.
 */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { listenHttp } from "../../../src/front/http/server.ts";
import { cert, key, other } from "../../fixtures/certificate.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

let files: { cert: string; key: string };

/** In one step each, as programs that renew certificates do. */
function write(pair: { cert: string; key: string }): void {
  for (const name of ["cert", "key"] as const) {
    writeFileSync(`${files[name]}.new`, pair[name]);
    renameSync(`${files[name]}.new`, files[name]);
  }
}

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "goblin-tls-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  write({ cert, key });
});

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "tls", version: "1" } },
});

/** One request on a connection of its own, by a client that trusts `ca` alone. */
function ask(url: string, ca: string, body?: string) {
  return new Promise<{ status: number | undefined; text: string; protocol: string | null }>((resolve, reject) => {
    const headers = { "content-type": "application/json", accept: "application/json" };
    const sent = request(url, { method: body ? "POST" : "GET", ca, agent: false, headers }, (answer) => {
      const { socket } = answer as unknown as { socket: TLSSocket };
      const protocol = socket.getProtocol();
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => resolve({ status: answer.statusCode, text, protocol }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

test("a client that begins no handshake is cut, and does not hold up the end of the gateway", async () => {
  const server = await listenHttp({
    serve: (_incoming, outgoing) => void outgoing.end(),
    host: "127.0.0.1",
    port: 0,
    certificate: { key: Buffer.from(key), cert: Buffer.from(cert) },
    headerBytes: 16_384,
    receiveMs: 300,
    onLimit: () => {},
    log: { error: () => {} },
  });
  const open = () =>
    connect(server.port, "127.0.0.1")
      .on("error", () => {})
      .resume();
  await new Promise((resolve) => open().once("close", resolve));
  const last = open();
  await new Promise((resolve) => last.once("connect", resolve));
  await server.close();
});

test("clients that trust the certificate are served, others and those without encryption are not", async () => {
  const { url } = await startGoblin({ gateway: { tls: files } });
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/mcp$/);
  const { status, text, protocol } = await ask(url, cert, INITIALIZE);
  expect([status, protocol]).toEqual([200, "TLSv1.3"]);
  expect(JSON.parse(text)).toMatchObject({ id: 1, result: { serverInfo: { name: "goblin" } } });
  await expect(ask(url, other.cert, INITIALIZE)).rejects.toThrow("certificate");
  await expect(fetch(url.replace("https:", "http:"), { method: "POST", body: INITIALIZE })).rejects.toThrow();
});

test("the API's own address has it too", async () => {
  const { adminUrl } = await startGoblin({ gateway: { tls: files, admin: { port: 0 } } });
  expect((await ask(`${adminUrl}/state`, cert)).status).toBe(200);
});

test("files that change are taken up without a restart, and not before they fit", async () => {
  const { url, logs } = await startGoblin({ gateway: { tls: files } });
  writeFileSync(files.cert, other.cert);
  await until(() => logs.some(({ msg }) => msg.includes("does not belong to the certificate")), {
    what: "a complaint",
  });
  expect((await ask(url, cert, INITIALIZE)).status).toBe(200);
  writeFileSync(files.key, other.key);
  await until(
    () =>
      ask(url, other.cert, INITIALIZE).then(
        ({ status }) => status === 200,
        () => false,
      ),
    {
      what: "the new certificate",
    },
  );
  await expect(ask(url, cert, INITIALIZE)).rejects.toThrow("certificate");
});

describe("what cannot be used is named, with what to do", () => {
  test.each([
    [
      "a missing certificate",
      () => rmSync(files.cert),
      /^gateway\.tls\.cert: .*cert\.pem does not exist: correct the path/,
    ],
    ["a missing key", () => rmSync(files.key), /^gateway\.tls\.key: .*key\.pem does not exist/],
    [
      "no certificate",
      () => writeFileSync(files.cert, "x"),
      /^gateway\.tls\.cert: .*cert\.pem is not a certificate: give one in PEM/,
    ],
    ["no key", () => writeFileSync(files.key, "x"), /^gateway\.tls\.key: .*key\.pem is not a usable private key/],
    [
      "the key of another",
      () => writeFileSync(files.key, other.key),
      /^gateway\.tls: the key .*key\.pem does not belong to/,
    ],
  ])("%s", async (_what, spoil, message) => {
    spoil();
    await expect(startGoblin({ gateway: { tls: files } })).rejects.toThrow(message);
  });
});
