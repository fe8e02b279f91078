/**
 * One URI, one decision, also for schemes of a server's own and for methods of its extensions. The
 * server takes what follows the scheme for a path, and answers with the path that it would open.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, type RawHttp, rawHttp } from "../../fixtures/peers.ts";

const SERVER = `
  const { posix } = require("node:path");
  const answers = {
    initialize: () => ({
      protocolVersion: "2025-11-25",
      capabilities: { resources: {}, experimental: { "acme/resources": {} } },
      serverInfo: { name: "skills", version: "1" },
    }),
    "resources/list": () => ({ resources: [] }),
    "resources/templates/list": () => ({
      resourceTemplates: ["skill://{+path}", "file://{+path}"].map((uriTemplate) => ({ uriTemplate, name: "t" })),
    }),
    "resources/read": ({ uri }) => ({ contents: [{ uri, text: posix.join("/", uri.replace(/^[a-z]+:/, "")) }] }),
    "resources/directory/read": ({ uri }) => ({ text: uri }),
  };
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method](params) }) + "\\n");
  });
`;

const clients = new Map<string, RawHttp>();

beforeAll(async () => {
  const goblin = await startGoblin({
    mcpServers: { s: { command: process.execPath, args: ["-e", SERVER], share: "all" } },
    profiles: {
      denied: { resources: { deny: ["skill://secret/*", "file:///secret/a"] } },
      allowed: { resources: { allow: ["skill://open/*", "skill://{+path}"] } },
      free: {},
    },
    policy: {
      rules: [
        { effect: "deny", resources: ["*"], when: "args.uri.contains('://judged/')" },
        { effect: "ask", resources: ["skill://asked/*"] },
      ],
    },
  });
  for (const profile of ["denied", "allowed", "free"]) {
    const client = rawHttp(`${goblin.url}/p/${profile}`);
    await client.initialize();
    clients.set(profile, client);
  }
});

afterAll(disposeAll);

async function ask(profile: string, method: string, uri: string) {
  const { messages } = await clients.get(profile)!.post({ jsonrpc: "2.0", id: 1, method, params: { uri } });
  return messages.find(({ id }) => id === 1) as { error?: { code: number; message: string }; result?: unknown };
}

describe("every spelling of a secret URI is refused", () => {
  test.each([
    "skill://secret/a",
    "skill://open/../secret/a",
    "skill://open/%2e%2e/secret/a",
    "skill://open\\..\\secret/a",
    "skill://./secret/a",
    "skill:///secret/a",
    "skill:////secret/a",
    "file:///secret/a::$DATA",
    "file:///secret::$INDEX_ALLOCATION/a",
    "file://host/secret/a",
  ])("%s", async (uri) => {
    for (const name of [uri, `s+${uri}`]) {
      expect((await ask("denied", "resources/read", name)).error).toMatchObject({ code: -32002 });
      expect((await ask("allowed", "resources/read", name)).error).toMatchObject({ code: -32002 });
      expect((await ask("denied", "resources/directory/read", name)).error).toMatchObject({ code: -32002 });
    }
  });
});

test("other URIs are read", async () => {
  for (const profile of ["denied", "allowed", "free"]) {
    expect((await ask(profile, "resources/read", "s+skill://open/a")).result).toBeDefined();
    expect((await ask(profile, "resources/read", "s+skill://open/b/../a")).result).toBeDefined();
    expect((await ask(profile, "resources/directory/read", "s+skill://open/a")).result).toBeDefined();
  }
  expect((await ask("free", "resources/read", "s+skill://open/../secret/a")).result).toBeDefined();
  expect((await ask("free", "resources/directory/read", "s+skill://secret/a")).result).toBeDefined();
});

test("a method of an extension is judged by the URI that it names, like a read", async () => {
  expect((await ask("free", "resources/directory/read", "s+skill://judged/a")).error).toMatchObject({ code: -32013 });
  expect((await ask("free", "resources/directory/read", "s+skill://asked/a")).error?.message).toContain(
    "an extension cannot wait for one",
  );
});
