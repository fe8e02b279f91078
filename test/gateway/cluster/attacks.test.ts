/**
 * What enemies of a cluster try: at the replicas' own address, with ids that they made or mixed,
 * and with requests that would mean something else to the next parser.
 */
import { createServer, type Socket } from "node:net";
import { connect } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { openListener } from "../../../src/cluster/listener.ts";
import { OwnerTags } from "../../../src/cluster/owners.ts";
import { bare } from "../../fixtures/bare.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { type Replicas, SECRET, startReplicas } from "../../fixtures/replicas.ts";

afterEach(disposeAll);

/** Where a replica takes hand-overs, as its log says. */
function clusterAddress(replicas: Replicas, i: number): string {
  const line = replicas.all[i]!.logs.find(({ msg }) => msg === "Takes requests of other replicas");
  return String(line!.extra!["address"]);
}

describe("the replicas' own address", () => {
  it("says nothing to those who do not know the secret", async () => {
    const replicas = await startReplicas(1, { mcpServers: {} });
    const address = clusterAddress(replicas, 0);
    const plain = await bare(`http://${address}`);
    plain.socket.write("POST /mcp HTTP/1.1\r\nhost: x\r\ngoblin-owner: x\r\nexpect: 100-continue\r\n\r\n");
    await until(plain.closed, { what: "the end of the connection" });
    expect(plain.text()).not.toContain("HTTP/1.1");
    const [host, port] = address.split(":");
    for (const secret of ["another secret of others", ""]) {
      const said = await new Promise<string>((resolve) => {
        const socket = connect({
          host: host!,
          port: Number(port),
          ciphers: "ECDHE-PSK-CHACHA20-POLY1305",
          maxVersion: "TLSv1.2",
          pskCallback: () => ({ psk: Buffer.from(secret.padEnd(32, "x")), identity: "goblin-1" }),
          checkServerIdentity: () => undefined,
        });
        onDispose(() => socket.destroy());
        socket.on("secureConnect", () => resolve("let in"));
        socket.on("error", () => resolve("refused"));
      });
      expect(said).toBe("refused");
    }
    expect((await fetch(`${replicas.all[0]!.origin}/health`)).status).toBe(200);
  });
});

describe("ids", () => {
  it("of another cluster, or of nobody, are unknown", async () => {
    const replicas = await startReplicas(2, { mcpServers: {} });
    const other = await startGoblin({
      mcpServers: {},
      cluster: { secret: "a secret of others", listen: "127.0.0.1:0" },
    });
    const foreign = rawHttp(other.url);
    await foreign.initialize();
    const forged = new OwnerTags("a secret of others").tagOf({ id: "x", address: "127.0.0.1:1" });
    for (const id of [foreign.headers["mcp-session-id"]!, `${forged}.abc`, ".", "..", "a.b", `${"A".repeat(600)}.x`]) {
      for (const { url } of replicas.all) {
        const raw = rawHttp(url);
        raw.headers["mcp-session-id"] = id;
        expect((await raw.call("ping")).status).toBe(404);
      }
    }
  });

  it("that name one replica for a session of another are unknown", async () => {
    const replicas = await startReplicas(3, { mcpServers: {} });
    const ids = [];
    for (const { url } of replicas.all) {
      const raw = rawHttp(url);
      await raw.initialize();
      ids.push(raw.headers["mcp-session-id"]!.split("."));
    }
    const [[tagOfFirst], [, restOfSecond]] = ids as [string[], string[], string[]];
    for (const { url } of replicas.all) {
      const raw = rawHttp(url);
      raw.headers["mcp-session-id"] = `${tagOfFirst}.${restOfSecond}`;
      expect((await raw.call("ping")).status).toBe(404);
    }
    await replicas.all[0]!.gateway.close();
    const raw = rawHttp(replicas.all[2]!.url);
    raw.headers["mcp-session-id"] = `${tagOfFirst}.${restOfSecond}`;
    expect((await raw.call("ping")).status).toBe(404);
  });

  it("end with the request id that opened the session, and with no other", async () => {
    const replicas = await startReplicas(2, { mcpServers: {} });
    const opened = async (requestId: string) => {
      const raw = rawHttp(replicas.all[0]!.url);
      raw.headers["x-request-id"] = requestId;
      await raw.initialize();
      return raw.headers["mcp-session-id"]!.split(".");
    };
    const id = await opened("0123456789abcdef");
    expect([id.length, id.at(-1)]).toEqual([3, "0123456789abcdef"]);
    for (const unfit of ["short", "with.dots.in.it", "x".repeat(65), "a b c d e f"]) {
      expect(await opened(unfit)).toHaveLength(2);
    }
    const [tag, sealed] = id;
    const tried = async (parts: (string | undefined)[], i: number) => {
      const raw = rawHttp(replicas.all[i]!.url);
      raw.headers["mcp-session-id"] = parts.join(".");
      return (await raw.call("ping")).status;
    };
    const changed = [
      [tag, sealed],
      [tag, sealed, "another-request-id"],
      [...id, "more"],
      [tag, sealed, ""],
    ];
    for (const i of [0, 1]) {
      expect(await tried(id, i)).toBe(200);
      for (const parts of changed) expect(await tried(parts, i)).toBe(404);
    }
    // The replica that goes on with the session knows it by this id alone.
    await replicas.all[0]!.gateway.close();
    for (const parts of changed) expect(await tried(parts, 1)).toBe(404);
    expect(await tried(id, 1)).toBe(200);
  });

  it("say nothing about replicas to clients", async () => {
    const replicas = await startReplicas(1, { mcpServers: {} });
    const raw = rawHttp(replicas.url);
    await raw.initialize();
    const id = raw.headers["mcp-session-id"]!;
    const port = clusterAddress(replicas, 0).split(":")[1]!;
    for (const part of id.split(".")) expect(Buffer.from(part, "base64url").toString("latin1")).not.toContain(port);
  });
});

describe("an owner that is silent", () => {
  it("gets its clients an error that names it, and no answer from another replica", async () => {
    const replicas = await startReplicas(1, { mcpServers: {} }, { timeoutMs: 200 });
    const open = new Set<Socket>();
    const silent = createServer((socket) => open.add(socket.resume()));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onDispose(() => {
      silent.close();
      for (const socket of open) socket.destroy();
    });
    const { port } = silent.address() as { port: number };
    const tag = new OwnerTags(SECRET).tagOf({ id: "sleeper", address: `127.0.0.1:${port}` });
    const raw = rawHttp(replicas.url);
    raw.headers["mcp-session-id"] = `${tag}.abc`;
    for (const answer of [await raw.call("ping"), await raw.delete(), await raw.send({ verb: "GET" })]) {
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
      expect(answer.json.error).toMatchObject({
        code: -32015,
        message: "Replica sleeper, which holds this session, cannot be reached; try again later",
        data: { code: "REPLICA_UNAVAILABLE", replica: "sleeper" },
      });
    }
    expect(JSON.stringify(replicas.all[0]!.logs)).toContain(`127.0.0.1:${port}`);
    await until(() => [...open].every((socket) => socket.destroyed), { what: "the connections to end" });
  });
});

describe("a request that is handed over", () => {
  it("reaches an owner of another version, which alone understands its id", async () => {
    const replicas = await startReplicas(1, { mcpServers: {} });
    const listener = await openListener({
      secret: SECRET,
      listen: "127.0.0.1:0",
      ownerId: "newer",
      hasMoved: () => false,
      serve: ({ incoming, outgoing }) =>
        outgoing.end(JSON.stringify([incoming.method, incoming.headers["mcp-session-id"]])),
      headerBytes: 16_384,
      receiveMs: 10_000,
    });
    onDispose(() => listener.close());
    const id = `${new OwnerTags(SECRET).tagOf({ id: "newer", address: listener.address })}.~format~7~`;
    const raw = rawHttp(replicas.url);
    raw.headers["mcp-session-id"] = id;
    expect((await raw.call("ping")).json).toEqual(["POST", id]);
    listener.close();
    expect((await raw.call("ping")).status).toBe(404);
  });

  it("means the same to both parsers", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const replicas = await startReplicas(2, { mcpServers: { one: server.entry } });
    const raw = rawHttp(replicas.all[0]!.url);
    await raw.initialize();
    const { "mcp-session-id": id } = raw.headers;
    const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const hidden = `POST /mcp HTTP/1.1\r\nhost: x\r\nmcp-session-id: ${id}\r\n\r\n`;
    const head = `POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nmcp-session-id: ${id}\r\n`;
    const tried = async (text: string): Promise<string> => {
      const socket = await bare(replicas.all[1]!.url);
      socket.socket.write(text);
      await until(() => socket.text().includes("\r\n\r\n"), { what: "an answer" });
      return socket.text().split("\r\n")[0]!;
    };
    const chunked = `${ping.length.toString(16)}\r\n${ping}\r\n0\r\n\r\n`;
    expect(await tried(`${head}transfer-encoding: chunked\r\n\r\n${chunked}`)).toBe("HTTP/1.1 200 OK");
    expect(await tried(`${head}content-length: ${ping.length}\r\n\r\n${ping}`)).toBe("HTTP/1.1 200 OK");
    const both = `${head}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n${chunked}${hidden}`;
    expect(await tried(both)).toBe("HTTP/1.1 400 Bad Request");
    // A header that the client calls its connection's own is not passed on; the body is, as it is.
    const named = `${head}connection: content-length, keep-alive\r\ncontent-length: ${ping.length}\r\n\r\n${ping}`;
    expect(await tried(named)).toBe("HTTP/1.1 200 OK");
    const twice = `${head}mcp-session-id: other\r\ncontent-length: ${ping.length}\r\n\r\n${ping}`;
    expect(await tried(twice)).toBe("HTTP/1.1 404 Not Found");
  });

  it("is never believed because of its own headers", async () => {
    const replicas = await startReplicas(2, { mcpServers: {}, gateway: { auth: { tokens: ["token-of-ada"] } } });
    const raw = rawHttp(replicas.all[0]!.url);
    raw.headers["authorization"] = "Bearer token-of-ada";
    await raw.initialize();
    const { authorization: _, ...bareHeaders } = raw.headers;
    const claims = { "goblin-owner": "x", "goblin-network": "127.0.0.1", "x-forwarded-for": "127.0.0.1" };
    for (const { url } of replicas.all) {
      const enemy = Object.assign(rawHttp(url), { headers: { ...bareHeaders, ...claims } });
      expect((await enemy.call("ping")).status).toBe(401);
      const friend = Object.assign(rawHttp(url), { headers: { ...raw.headers, ...claims } });
      expect((await friend.call("ping")).status).toBe(200);
    }
  });
});

describe("handOvers", () => {
  it("keeps one account from taking all of them, and gives them back", async () => {
    const auth = { tokens: ["token-of-ada", "token-of-bob"] };
    const config = { mcpServers: {}, gateway: { auth }, limits: { handOvers: 8 } };
    const replicas = await startReplicas(2, config);
    const away = async (token: string) => {
      const raw = rawHttp(replicas.all[0]!.url);
      raw.headers["authorization"] = `Bearer ${token}`;
      await raw.initialize();
      return Object.assign(rawHttp(replicas.all[1]!.url), { headers: raw.headers });
    };
    const ada = await Promise.all(Array.from({ length: 6 }, () => away("token-of-ada")));
    const streams = [];
    for (const raw of ada) streams.push(await raw.stream({ verb: "GET" }));
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 503, 503]);
    expect(streams[4]!.messages[0].error.message).toBe(
      "LimitExceeded: too many requests of this token or address are under way at other replicas (handOvers is 8); wait until some are answered",
    );
    const bob = await away("token-of-bob");
    expect((await bob.call("ping")).status).toBe(200);
    for (const stream of streams) await stream.close();
    const { gateway } = replicas.all[1]!;
    await until(() => gateway.cluster()!.handedOver === 0, { what: "all of them to end" });
    expect((await ada[5]!.call("ping")).status).toBe(200);
  });
});
