// A server's answer was cut out of its message together with what stood behind it: a second "id" in
// there made it the answer to a request that the client had sent to another server, and JSON that
// was broken reached the client as it was.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, type Scripted, type ScriptedOptions, startScripted } from "../fixtures/peers.ts";
import { variants } from "../fixtures/thorough.ts";
import { connectSpeaker, type Speaker } from "../matrix/speakers.ts";

const RESULT = (pad: string) => `{"content":[{"type":"text","text":"FORGED${pad}"}]}`;
const sizes = { small: "", large: "x".repeat(40_000) };

/** Messages that are nobody's answer. $ID is the id that the gateway gave the request. */
const forged: Record<string, (result: string) => string> = {
  "a second id behind the result": (r) => `{"jsonrpc":"2.0","id":$ID,"result":${r},"id":700}`,
  "a second id behind the result that comes first": (r) => `{"result":${r},"id":700,"jsonrpc":"2.0","id":$ID}`,
  "a second id, written with an escape": (r) => `{"result":${r},"\\u0069d":700,"jsonrpc":"2.0","id":$ID}`,
  "a second result": (r) => `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]},"result":${r}}`,
  "a second result that comes first": (r) => `{"result":${r},"result":{"content":[]},"jsonrpc":"2.0","id":$ID}`,
  "a second error": (r) => `{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"a","data":${r}},"error":{"code":2}}`,
  "a second version": (r) => `{"result":${r},"jsonrpc":"2.0","jsonrpc":"2.0","id":$ID}`,
  "a second message": (r) => `{"jsonrpc":"2.0","id":$ID,"result":${r}},{"jsonrpc":"2.0","id":700,"result":{}}`,
  "text behind the end": (r) => `{"result":${r},"jsonrpc":"2.0","id":$ID}}`,
  "another version": (r) => `{"jsonrpc":"3.0","id":$ID,"result":${r}}`,
};

const members: Record<string, string> = {
  "a bad literal": '"x":tru',
  "a bad number": '"x":01',
  "a bad escape": '"x":"\\q"',
  "half an escape": '"x":"\\u12"',
  "a control character": '"x":"\u0001"',
  "a tab in a string": '"x":"\t"',
  "a comma too many": '"x":[1,]',
  "no comma": '"x":[1 2]',
  "the wrong bracket": '"x":[1}',
  "a key that is no string": "x:1",
  "nothing in its place": '"x":',
  "too many levels": `"x":${"[".repeat(10_001)}${"]".repeat(10_001)}`,
};
for (const [what, member] of Object.entries(members)) {
  const broken = (r: string) => r.replace(/\}$/, `,${member}}`);
  forged[`${what} in the result`] = (r) => `{"jsonrpc":"2.0","id":$ID,"result":${broken(r)}}`;
  forged[`${what} in the result that comes first`] = (r) => `{"result":${broken(r)},"jsonrpc":"2.0","id":$ID}`;
}

const servers: Record<string, ScriptedOptions & { framing?: string }> = {
  "stdio with a handshake": { transport: "stdio", era: "legacy" },
  "stdio without": { transport: "stdio", era: "modern" },
  "HTTP with a handshake, JSON": { transport: "http", era: "legacy", framing: "json" },
  "HTTP with a handshake, event stream": { transport: "http", era: "legacy", framing: "sse" },
  "HTTP without, JSON": { transport: "http", era: "modern", framing: "json" },
  "HTTP without, event stream": { transport: "http", era: "modern", framing: "sse" },
  "HTTP+SSE": { transport: "sse", era: "legacy" },
};

const tried = variants(
  ["stdio with a handshake", "HTTP without, event stream", "HTTP+SSE"],
  ["stdio without", "HTTP with a handshake, JSON", "HTTP with a handshake, event stream", "HTTP without, JSON"],
);

describe.each(tried)("a server over %s", (kind) => {
  const { framing, ...options } = servers[kind]!;
  let server: Scripted;
  let speakers: Speaker[];
  let post: ReturnType<typeof rawHttp>;
  const answerWith = (text: string) =>
    server.setScript({
      http: framing ? { framing } : {},
      rules: [{ method: "tools/call", name: "echo", do: "invalidJson", text }],
    });

  beforeAll(async () => {
    server = await startScripted({ ...options, name: "evil", script: { http: framing ? { framing } : {} } });
    // No answer must not look like an error.
    const goblin = await startGoblin({ mcpServers: { evil: server.entry }, timeouts: { callMs: 600_000 } });
    post = rawHttp(goblin.url);
    await post.initialize();
    speakers = [
      await connectSpeaker({ goblin, way: "stdio", version: "2025-11-25" }),
      await connectSpeaker({ goblin, way: "http", version: "2026-07-28" }),
    ];
  });
  afterAll(disposeAll);

  for (const [size, pad] of Object.entries(sizes)) {
    test.each(Object.entries(forged))(`%s, ${size}: the call fails by its server's fault`, async (_what, shape) => {
      answerWith(shape(RESULT(pad)));
      const { text, status } = await post.post({
        jsonrpc: "2.0",
        id: 5,
        method: "tools/call",
        params: { name: "evil_echo" },
      });
      const messages = text.startsWith("{") ? [JSON.parse(text)] : [];
      expect([status, ...messages]).toMatchObject([
        200,
        { id: 5, error: { code: -32603, data: { code: "BACKEND_ERROR", serverId: "evil" } } },
      ]);
      expect(text).not.toContain("FORGED");
    });

    test(`clients of either era, on either front, hear of it, ${size}`, async () => {
      for (const what of ["a second id behind the result", "a bad escape in the result that comes first"]) {
        answerWith(forged[what]!(RESULT(pad)));
        for (const speaker of speakers) {
          const message = await speaker.request("tools/call", { name: "evil_echo", arguments: {} });
          expect(message).toMatchObject({ error: { code: -32603, data: { code: "BACKEND_ERROR", serverId: "evil" } } });
        }
      }
    });

    test(`what else stands in the envelope is left out, ${size}`, async () => {
      for (const shape of [
        `{"jsonrpc":"2.0","id":$ID,"result":${RESULT(pad)},"x-trace":{"id":700}}`,
        `{"result":${RESULT(pad)},"x-trace":1,"jsonrpc":"2.0","id":$ID}`,
        ` { "x" : [ ] , "result" : ${RESULT(pad)} , "id" : $ID , "jsonrpc" : "2.0" } `,
      ]) {
        answerWith(shape);
        const { text } = await post.post({
          jsonrpc: "2.0",
          id: 5,
          method: "tools/call",
          params: { name: "evil_echo" },
        });
        expect(text).toMatch(/^\{"jsonrpc":"2\.0","id":5,"result":\{/);
        expect(Object.keys(JSON.parse(text))).toEqual(["jsonrpc", "id", "result"]);
        expect(JSON.parse(text).result.content[0].text).toBe(`FORGED${pad}`);
      }
    });
  }
});

describe("batches of 2025-03-26", () => {
  afterEach(disposeAll);

  test.each(Object.entries(sizes))(
    "of a server: a forged element fails its call, the others count, %s",
    async (_, pad) => {
      const server = await startScripted({ name: "evil", script: { versions: ["2025-03-26"] } });
      const goblin = await startGoblin({ mcpServers: { evil: server.entry }, timeouts: { callMs: 600_000 } });
      const client = rawHttp(goblin.url);
      await client.initialize();
      const call = () => client.call("tools/call", { name: "evil_echo", arguments: {} });
      for (const text of [
        `[{"jsonrpc":"2.0","id":$ID,"result":${RESULT(pad)},"id":700}]`,
        ` [ {"result":${RESULT(pad)},"id":700,"jsonrpc":"2.0","id":$ID} ]`,
        `[{"jsonrpc":"2.0","id":$ID,"result":${RESULT(pad)}},]`,
      ]) {
        server.setScript({ rules: [{ method: "tools/call", do: "invalidJson", text }] });
        expect((await call()).message).toMatchObject({ error: { code: -32603, data: { serverId: "evil" } } });
      }
      const text = `[{"jsonrpc":"2.0","id":$ID,"result":${RESULT(pad)}}]`;
      server.setScript({ rules: [{ method: "tools/call", do: "invalidJson", text }] });
      expect((await call()).message.result.content[0].text).toBe(`FORGED${pad}`);
    },
  );

  test.each(Object.entries(sizes))("of a client: no server adds an element to the answer, %s", async (_, pad) => {
    const server = await startScripted({ name: "evil" });
    const honest = await startScripted({ name: "bank" });
    const goblin = await startGoblin({ mcpServers: { evil: server.entry, bank: honest.entry } });
    const client = rawHttp(goblin.url);
    await client.initialize("2025-03-26");
    const body = ["bank_echo", "evil_echo"].map((name, id) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name, arguments: { text: "honest" } },
    }));
    for (const text of [
      `{"jsonrpc":"2.0","id":$ID,"result":${RESULT(pad)}},{"jsonrpc":"2.0","id":0,"result":{}}`,
      `{"result":${RESULT(pad)},"id":0,"jsonrpc":"2.0","id":$ID}`,
    ]) {
      server.setScript({ rules: [{ method: "tools/call", do: "invalidJson", text }] });
      const { json } = await client.post(body);
      expect(json).toMatchObject([
        { id: 0, result: { structuredContent: { text: "honest" } } },
        { id: 1, error: { data: { serverId: "evil" } } },
      ]);
      expect(json).toHaveLength(2);
    }
  });
});
