/**
 * What enemies of a gateway with workers try: from other programs of the machine, and from clients
 * that want to be taken for a worker.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterEach, expect, it } from "vitest";
import { makeSocketFolder } from "../../../src/app/workers/socket-folder.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { commandOf } from "../../fixtures/processes.ts";
import { familyOf, startWorkers, type Workers } from "../../fixtures/workers.ts";

afterEach(disposeAll);

function socketsOf({ pid }: Workers): { folder: string; sockets: string[] } {
  const name = readdirSync(tmpdir()).find((one) => one.startsWith(`goblin-workers-${pid}-`))!;
  const folder = join(tmpdir(), name);
  return { folder, sockets: readdirSync(folder).map((socket) => join(folder, socket)) };
}

const JSON_ONLY = { "content-type": "application/json" };

/** Tries a key at a worker's socket. */
function knock(path: string, psk: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const tls = { ciphers: "ECDHE-PSK-CHACHA20-POLY1305", maxVersion: "TLSv1.2" as const };
    const socket = connect({
      path,
      ...tls,
      pskCallback: () => ({ psk, identity: "goblin-1" }),
      checkServerIdentity: () => undefined,
    });
    onDispose(() => void socket.destroy());
    socket.on("secureConnect", () => resolve("let in"));
    socket.on("error", () => resolve("refused"));
  });
}

it("other users cannot reach the sockets, and the user's other programs do not know the secret", async () => {
  const secret = "s3cret-of-all-workers-0123456789";
  const idle = await startScripted({ name: "two", transport: "stdio" });
  const workers = await startWorkers(
    2,
    { mcpServers: { two: idle.entry }, cluster: { secret: "${env:THE_SECRET}" } },
    { THE_SECRET: secret },
  );
  await until(async () => (await fetch(`${workers.origin}/ready`)).ok, { what: "/ready" });
  const { folder, sockets } = socketsOf(workers);
  expect(lstatSync(folder).mode & 0o777).toBe(0o700);
  expect(sockets).toHaveLength(2);
  for (const socket of sockets) {
    expect(lstatSync(socket).mode & 0o777).toBe(0o600);
    expect(await knock(socket, Buffer.alloc(32))).toBe("refused");
    expect(await knock(socket, Buffer.from(secret))).toBe("refused");
  }
  const family = familyOf(workers);
  for (const pid of family) expect(commandOf(pid)).not.toContain(secret);
  // The gateway's own processes were given it by the user; what they start was not.
  const own = [workers.pid, workers.pidOf(1), workers.pidOf(2)];
  const started = family.filter((pid) => !own.includes(pid));
  expect(started.length).toBeGreaterThanOrEqual(2);
  for (const pid of started) {
    const environment = existsSync(`/proc/${pid}/environ`) ? readFileSync(`/proc/${pid}/environ`, "utf8") : "";
    expect(environment).not.toMatch(/NODE_UNIQUE_ID|NODE_CHANNEL_FD/);
    expect(environment).not.toContain(secret);
  }
  expect(workers.log()).not.toContain(secret);
  const said = await Promise.all(
    ["state", "config", "servers", "logs"].map(async (name) => (await fetch(`${workers.origin}/api/${name}`)).text()),
  );
  expect(said.join()).not.toContain(secret);
});

it("a client cannot be taken for a worker, or for another network, and the guard holds at every worker", async () => {
  const admin = { tokens: ["admin-token-0123456789"] };
  const workers = await startWorkers(3, {
    mcpServers: {},
    gateway: { auth: { tokens: ["client-token-0123456789"] }, admin },
  });
  const origin = workers.hopping.replace(/\/mcp$/, "");
  const asked = (headers: Record<string, string>) => fetch(`${origin}/api/state`, { headers });
  const forged = { "goblin-owner": "x", "goblin-network": "127.0.0.1" };
  for (let i = 0; i < 3; i++) {
    expect((await asked(forged)).status).toBe(401);
    expect((await asked({ ...forged, authorization: "Bearer client-token-0123456789" })).status).toBe(403);
    expect((await asked({ authorization: "Bearer admin-token-0123456789" })).status).toBe(200);
    expect(
      (await asked({ authorization: "Bearer admin-token-0123456789", origin: "http://evil.example" })).status,
    ).toBe(403);
  }
  // A session of one client is no other's, whichever worker is asked.
  const raw = rawHttp(workers.hopping);
  raw.headers["authorization"] = "Bearer client-token-0123456789";
  await raw.initialize();
  for (let i = 0; i < 3; i++) {
    const thief = Object.assign(rawHttp(workers.hopping), {
      headers: { ...raw.headers, authorization: "Bearer other-token" },
    });
    expect((await thief.call("ping")).status).toBe(401);
    expect((await raw.call("ping")).status).toBe(200);
  }
});

it("the page's cookie is good at every worker", async () => {
  const workers = await startWorkers(3, { mcpServers: {}, gateway: { admin: { tokens: ["admin-token-0123456789"] } } });
  const origin = workers.hopping.replace(/\/mcp$/, "");
  const headers = { authorization: "Bearer admin-token-0123456789", "content-type": "application/json" };
  for (let i = 0; i < 3; i++) {
    const made = await fetch(`${origin}/api/page`, { method: "POST", headers, body: "{}" });
    const body = JSON.stringify(await made.json());
    const opened = await fetch(`${origin}/ui/session`, { method: "POST", headers: JSON_ONLY, body });
    expect(opened.status).toBe(200);
    const cookie = opened.headers.get("set-cookie")!.split(";")[0]!;
    const { key } = (await opened.json()) as { key: string };
    const seen = await fetch(`${origin}/api/state`, { headers: { cookie, "x-goblin-page": key } });
    expect(seen.status).toBe(200);
  }
});

it("a folder that somebody prepared is not used, and what others left is not touched", () => {
  const parent = mkdtempSync(join(tmpdir(), "goblin-parent-"));
  const outside = join(parent, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "kept"), "");
  // As if a process that has ended had left it.
  symlinkSync(outside, join(parent, "goblin-workers-4194303-abcdef"));
  mkdirSync(join(parent, "goblin-workers-4194303-ghijkl"));
  mkdirSync(join(parent, `goblin-workers-${process.pid}-mine`));
  chmodSync(parent, 0o777);
  const folder = makeSocketFolder(parent);
  expect(lstatSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(outside)).toEqual(["kept"]);
  expect(readdirSync(parent).filter((name) => name.startsWith("goblin-workers-4194303")).length).toBe(0);
  expect(existsSync(join(parent, `goblin-workers-${process.pid}-mine`))).toBe(true);
  expect(makeSocketFolder(parent)).not.toBe(folder);
});
