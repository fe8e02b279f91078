/**
 * What policy judges is what the server reads. Servers that read JSON differently (a Go program, a
 * JavaScript program, and one that ignores the case of names as .NET can) get the same requests,
 * and answer with what they found in them. None of them finds what a rule denies, and all of them
 * find the same.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, type RawHttp, rawHttp } from "../../fixtures/peers.ts";
import { stdioClient } from "../../fixtures/stdio.ts";
import { runs } from "../../fixtures/thorough.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/readers/", import.meta.url));
const hasGo = spawnSync("go", ["version"]).status === 0;

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const META_TEXT = JSON.stringify(META);

const rules = [
  { effect: "deny", tools: ["drop"], prompts: ["secret"], resources: ["x:///secret"] },
  { effect: "deny", tools: ["read"], when: "has(args.path) && args.path == '/etc'" },
  { effect: "deny", tools: ["read"], when: "has(args.id) && args.id == 9007199254740992" },
  { effect: "deny", tools: ["read"], when: "has(args.options) && args.options.?owner.orValue('') == 'evil'" },
  { effect: "deny", tools: ["read"], when: "has(args.items) && args.items.exists(i, i.?path.orValue('') == '/etc')" },
];

interface Reading {
  readonly name: string;
  readonly uri: string;
  readonly ref: string;
  readonly path: string;
  readonly id: string;
  readonly owner: string;
  readonly paths: readonly string[];
  readonly token: unknown;
}

let goblin: RunningGoblin;
let legacy: RawHttp;
let modern: RawHttp;
/** The servers, by the way in which they read. */
let servers: readonly string[];

function buildGo(): string {
  const folder = mkdtempSync(join(tmpdir(), "goblin-go-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, "reader");
  execFileSync("go", ["build", "-o", program, "main.go"], { cwd: FIXTURES, stdio: "pipe" });
  return program;
}

beforeAll(async () => {
  const script = (...more: string[]) => ({ command: process.execPath, args: [join(FIXTURES, "server.js"), ...more] });
  const mcpServers = {
    exact: script(),
    folding: script("--fold"),
    ...(hasGo && { go: { command: buildGo(), args: [] } }),
  };
  servers = Object.keys(mcpServers);
  goblin = await startGoblin({ mcpServers, policy: { rules } });
  legacy = rawHttp(goblin.url);
  await legacy.initialize();
  modern = rawHttp(goblin.url);
  modern.headers = { "mcp-protocol-version": "2026-07-28" };
}, 120_000);

afterAll(disposeAll);

let lastId = 0;

const envelope = (method: string, params: string, id: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

/** Params with a `_meta` of this era, unless they have one. */
function withMeta(params: string): string {
  return `${params.slice(0, -1)}${params === "{}" ? "" : ","}"_meta":${META_TEXT}}`;
}

interface Answered {
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: Record<string, unknown>;
}

/** Each way into the gateway, with params as text. */
const doors: Record<string, (method: string, params: string) => Promise<Answered>> = {
  async "a session over HTTP"(method, params) {
    const id = ++lastId;
    const { messages } = await legacy.post(envelope(method, params, id));
    return messages.find((message) => message.id === id);
  },
  async "a batch of 2025-03-26"(method, params) {
    const client = rawHttp(goblin.url);
    await client.initialize("2025-03-26");
    const id = ++lastId;
    const { messages } = await client.post(`[${envelope("ping", "{}", ++lastId)},${envelope(method, params, id)}]`);
    return messages.flat().find((message) => message.id === id);
  },
  async "a request of 2026-07-28 over HTTP"(method, params) {
    const id = ++lastId;
    const given = JSON.parse(params) as { name?: string; uri?: string };
    const { messages } = await modern.send({
      body: envelope(method, withMeta(params), id),
      headers: { "mcp-method": method, "mcp-name": given.name ?? given.uri ?? null },
    });
    return messages.find((message) => message.id === id);
  },
  async "a session over stdio"(method, params) {
    const client = stdioClient(goblin.gateway);
    await client.hello(0);
    const id = ++lastId;
    client.input.write(`${envelope(method, params, id)}\n`);
    return client.answer(id);
  },
  async "a request of 2026-07-28 over stdio"(method, params) {
    const client = stdioClient(goblin.gateway);
    const id = ++lastId;
    client.input.write(`${envelope(method, withMeta(params), id)}\n`);
    return client.answer(id);
  },
};

/** What the server found, if the request reached it. */
function readingOf({ result }: Answered): Reading | undefined {
  const { content, messages, contents, completion } = (result ?? {}) as {
    content?: { text: string }[];
    messages?: { content: { text: string } }[];
    contents?: { text: string }[];
    completion?: { values: string[] };
  };
  const text = content?.[0]?.text ?? messages?.[0]?.content.text ?? contents?.[0]?.text ?? completion?.values[0];
  return text === undefined ? undefined : (JSON.parse(text) as Reading);
}

describe.each(Object.keys(doors))("A-H1: %s", (door) => {
  test.each([
    ["tools/call", '{"name":"folding_read","arguments":{},"Name":"drop"}', "name"],
    ["tools/call", '{"Name":"drop","name":"folding_read","arguments":{}}', "name"],
    ["tools/call", '{"name":"folding_read","\\u004eame":"drop"}', "name"],
    ["tools/call", '{"name":"folding_read","arguments":{},"ARGUMENTS":{"path":"/etc"}}', "arguments"],
    ["tools/call", '{"name":"folding_read","argument\\u017f":{"path":"/etc"}}', "arguments"],
    ["tools/call", '{"name":"folding_read","Task":{}}', "task"],
    ["tools/call", '{"name":"folding_read","tas\\u212a":{}}', "task"],
    ["tools/call", '{"name":"folding_read","name\\u0000":"drop"}', "name"],
    ["tools/call", '{"name":"folding_read","task_id":"x"}', "taskId"],
    ["prompts/get", '{"name":"folding_greet","NAME":"secret"}', "name"],
    ["resources/read", '{"uri":"folding+x:///open","URI":"x:///secret"}', "uri"],
    ["resources/read", '{"uri":"folding+x:///open","Ur\\u0131":"x:///secret"}', "uri"],
  ])("%s %s is refused, and the answer names %s", async (method, params, member) => {
    const { error } = await doors[door]!(method, params);
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(`must be written as "${member}"$`) });
  });

  test("another spelling alone is refused, whatever else is missing", async () => {
    const { error } = await doors[door]!("prompts/get", '{"Name":"folding_greet"}');
    expect(error).toMatchObject({
      code: -32602,
      message: 'Invalid params: "Name" in them must be written as "name"',
    });
  });

  test("another spelling inside of ref is refused", async () => {
    const params =
      '{"ref":{"type":"ref/prompt","name":"folding_greet","Name":"secret"},"argument":{"name":"a","value":""}}';
    const { error } = await doors[door]!("completion/complete", params);
    expect(error).toMatchObject({
      code: -32602,
      message: 'Invalid params: "Name" in "ref" must be written as "name"',
    });
  });

  test("the same request in one spelling reaches the server", async () => {
    const answer = await doors[door]!("tools/call", '{"name":"folding_read","arguments":{"path":"/tmp"}}');
    expect(readingOf(answer)).toMatchObject({ name: "read", path: "/tmp" });
  });
});

describe("A-H1: the token for progress", () => {
  const call = (meta: string) => `{"name":"folding_read","arguments":{},"_meta":${meta}}`;

  test.each([
    '{"progressToken":1,"ProgressToken":777777}',
    '{"progress_token":777777}',
    '{"progressToken":777777,"progressToken":null}',
  ])("with %s, a session's call is refused", async (meta) => {
    const { error } = await doors["a session over HTTP"]!("tools/call", call(meta));
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('in "_meta"') });
  });

  test("a client without a session is refused each time it repeats the same _meta", async () => {
    const meta = `{"ProgressToken":777777,${META_TEXT.slice(1)}`;
    const id = ++lastId;
    const headers = { "mcp-method": "tools/call", "mcp-name": "folding_read" };
    for (let round = 0; round < 4; round++) {
      const { messages } = await modern.send({ body: envelope("tools/call", call(meta), id), headers });
      expect(messages[0].error).toMatchObject({ code: -32602 });
      // A channel keeps the newest _meta of its client.
      const client = stdioClient(goblin.gateway);
      for (const again of [1, 2, 3]) client.input.write(`${envelope("tools/call", call(meta), again)}\n`);
      expect((await client.answer(3)).error).toMatchObject({ code: -32602 });
    }
  });
});

test("A-H1: call_tool does not take another spelling of the tool's name either", async () => {
  const call = (args: string) =>
    doors["a session over HTTP"]!("tools/call", `{"name":"call_tool","arguments":${args}}`);
  expect(readingOf(await call('{"name":"folding_read","arguments":{"path":"/tmp"}}'))).toMatchObject({ name: "read" });
  const twin = await call('{"name":"folding_read","Name":"folding_drop"}');
  expect(twin.error).toMatchObject({ code: -32602, message: expect.stringContaining('does not take "Name"') });
  const inner = await call('{"name":"folding_read","arguments":{"Path":"/etc"}}');
  expect(inner.error).toMatchObject({ code: -32602 });
  // Of two equal names, the gateway judges and sends the last one.
  expect((await call('{"name":"folding_read","name":"folding_drop"}')).error).toBeDefined();
});

describe("servers that read JSON differently", () => {
  /** Spellings of a name: its own most often, and those that some reader takes for it. */
  const spellings = (name: string): fc.Arbitrary<string> =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constant(name) },
      { weight: 1, arbitrary: fc.constant(name.toUpperCase()) },
      { weight: 1, arbitrary: fc.constant(name[0]!.toUpperCase() + name.slice(1)) },
      { weight: 1, arbitrary: fc.constant(name.replace("s", "\u017f").replace("k", "\u212a")) },
      { weight: 1, arbitrary: fc.constant(`${name}\u0000`) },
      { weight: 1, arbitrary: fc.constantFrom("__proto__", "\ud800", "", `${name}s`, `x-${name}`) },
    );
  /** The key as JSON, with none, some or all of its characters escaped. */
  const written = (key: string): fc.Arbitrary<string> =>
    fc.constantFrom(0, 0, 0, 1, 2).map((step) => {
      if (step === 0) return JSON.stringify(key);
      const units = Array.from({ length: key.length }, (_, i) => key.charCodeAt(i));
      return `"${units
        .map((unit, i) =>
          i % step === 0
            ? `\\u${unit.toString(16).padStart(4, "0")}`
            : JSON.stringify(String.fromCharCode(unit)).slice(1, -1),
        )
        .join("")}"`;
    });
  /** An object with some of these members: in any order, in any spelling, also twice. */
  const objectOf = (members: Record<string, fc.Arbitrary<string>>): fc.Arbitrary<string> => {
    const member = fc
      .constantFrom(...Object.keys(members))
      .chain((name) => fc.tuple(spellings(name).chain(written), members[name]!))
      .map(([key, value]) => `${key}:${value}`);
    return fc.array(member, { maxLength: 3 }).map((all) => `{${all.join(",")}}`);
  };
  const text = (...values: string[]): fc.Arbitrary<string> =>
    fc.constantFrom(...values.map((one) => JSON.stringify(one)));
  const path = text("/tmp", "/etc");
  const item = objectOf({ path });
  const args = objectOf({
    path,
    id: fc.constantFrom("1", "9007199254740992", "9007199254740993", "9007199254740991", "9007199254740992.0"),
    options: objectOf({ owner: text("acme", "evil") }),
    items: fc.array(item, { maxLength: 2 }).map((all) => `[${all.join(",")}]`),
  });
  const meta = objectOf({ progressToken: fc.constantFrom("777777", '"own"', "null") });
  const more = (members: Record<string, fc.Arbitrary<string>>): fc.Arbitrary<string> =>
    objectOf(members).map((object) => (object === "{}" ? "" : `,${object.slice(1, -1)}`));

  interface Asked {
    readonly method: string;
    /** The params, with SERVER for the server's id. */
    readonly params: string;
  }
  const requests: fc.Arbitrary<Asked> = fc.oneof(
    fc.tuple(args, more({ name: text("drop"), arguments: args, _meta: meta })).map(([given, rest]) => ({
      method: "tools/call",
      params: `{"name":"SERVER_read","arguments":${given}${rest}}`,
    })),
    more({ name: text("secret"), _meta: meta }).map((rest) => ({
      method: "prompts/get",
      params: `{"name":"SERVER_greet"${rest}}`,
    })),
    more({ uri: text("x:///secret"), _meta: meta }).map((rest) => ({
      method: "resources/read",
      params: `{"uri":"SERVER+x:///open"${rest}}`,
    })),
    more({ name: text("secret"), type: text("ref/resource"), uri: text("x:///secret") }).map((rest) => ({
      method: "completion/complete",
      params: `{"ref":{"type":"ref/prompt","name":"SERVER_greet"${rest}},"argument":{"name":"a","value":""}}`,
    })),
  );

  const ask = async ({ method, params }: Asked, server: string): Promise<Reading | undefined> => {
    const answer = await doors["a session over HTTP"]!(method, params.replace("SERVER", server));
    expect(answer.error === undefined || [-32602, -32013].includes(answer.error.code), answer.error?.message).toBe(
      true,
    );
    return readingOf(answer);
  };

  test(`find the same in every request, and nothing that a rule denies${hasGo ? "" : " (without Go)"}`, async () => {
    expect(servers).toHaveLength(hasGo ? 3 : 2);
    let accepted = 0;
    const law = fc.asyncProperty(requests, async (asked) => {
      const readings = await Promise.all(servers.map((server) => ask(asked, server)));
      const [first] = readings;
      if (first) accepted++;
      for (const reading of readings) {
        expect(reading && { ...reading, token: typeof reading.token }).toEqual(
          first && { ...first, token: typeof first.token },
        );
        if (!reading) continue;
        const { name, uri, ref, path: read, id, owner, paths, token } = reading;
        expect([name, uri, ref].join("")).toMatch(/^(read|greet|x:\/\/\/open)$/);
        expect([read, id, owner, token, ...paths]).not.toEqual(
          expect.arrayContaining([
            expect.toSatisfy((one) => ["/etc", "9007199254740992", "evil", 777777].includes(one)),
          ]),
        );
      }
    });
    const rounded = '{"name":"SERVER_read","arguments":{"id":9007199254740993}}';
    const both =
      '{"ref":{"type":"ref/prompt","name":"SERVER_greet","uri":"x:///secret"},"argument":{"name":"a","value":""}}';
    const examples: [Asked][] = [
      [{ method: "tools/call", params: rounded }],
      [{ method: "completion/complete", params: both }],
    ];
    await fc.assert(law, { examples, numRuns: runs(150, 3000), endOnFailure: !process.env["GOBLIN_CI"] });
    expect(accepted).toBeGreaterThan(0);
  }, 300_000);
});
