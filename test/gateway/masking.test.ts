/** Masking through the front door: per server and side, counted and shown. */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted } from "../fixtures/peers.ts";
import { parsePrometheus, valueIn } from "../fixtures/prometheus.ts";
import { stateless } from "../matrix/stateless.ts";

afterEach(disposeAll);

const token = `gh${"p_"}${"a1B2".repeat(9)}`;
const mask = "[masked github-token]";

async function start(masking: object | undefined, entry: object = {}) {
  const web = await startScripted({ transport: "http" });
  const other = await startScripted({ transport: "http" });
  const goblin = await startGoblin({
    mcpServers: { web: { ...web.entry, ...entry }, other: other.entry },
    ...(masking && { masking }),
  });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const call = async (name: string, args: object) =>
    (await client.call("tools/call", { name, arguments: args })).message;
  return { web, other, goblin, client, call };
}

test("off, everything passes byte for byte", async () => {
  const { call, web } = await start(undefined);
  const { result } = await call("web_echo", { text: token });
  expect(result.structuredContent).toEqual({ text: token });
  const [record] = await web.received("tools/call");
  expect(record!.message.params.arguments).toEqual({ text: token });
});

test("arguments alone: the server never gets it", async () => {
  const { call, web, goblin } = await start({ arguments: true });
  const { result } = await call("web_echo", { text: `use ${token}`, value: 1 });
  expect(result.structuredContent).toEqual({ text: `use ${mask}`, value: 1 });
  expect(JSON.stringify(await web.log())).not.toContain(token);
  // Results are not masked.
  const made = await call("web_raw", {
    text: `{"content":[{"type":"text","text":"gh" } ],"t":"${token.slice(0, 3)}"}`,
  });
  expect(made.result.t).toBe(token.slice(0, 3));
  const page = parsePrometheus(await (await fetch(`${goblin.origin}/metrics`)).text());
  expect(valueIn(page, "mcpMaskedTotal", { serverId: "web", side: "arguments", format: "github-token" })).toBe(1);
});

test("results alone: of tools, prompts and errors, in both eras, counted in the call's details", async () => {
  const { call, web, goblin } = await start({ results: true });
  const { result } = await call("web_echo", { text: token });
  expect(result).toEqual({
    content: [{ type: "text", text: JSON.stringify({ text: mask }) }],
    structuredContent: { text: mask },
  });
  expect((await web.received("tools/call"))[0]!.message.params.arguments).toEqual({ text: token });
  const failed = await call("web_fail", { message: `bad key ${token}`, data: { key: token } });
  expect([failed.error.message, failed.error.data.key]).toEqual([`bad key ${mask}`, mask]);
  const modern = await stateless(goblin.url).call("tools/call", { name: "web_echo", arguments: { text: token } });
  expect(modern.message.result.structuredContent).toEqual({ text: mask });
  const { items } = (await (await fetch(`${goblin.origin}/api/calls`)).json()) as {
    items: { requestId: string; name: string }[];
  };
  const last = items.filter(({ name }) => name === "web_echo").at(-1)!;
  const details = (await (await fetch(`${goblin.origin}/api/calls/${last.requestId}`)).json()) as { masked: number };
  expect(details.masked).toBe(2);
});

test("a server's own setting goes before the common one, and a reload applies", async () => {
  const { call } = await start({ arguments: true, results: true }, { masking: { arguments: false, results: false } });
  expect((await call("web_echo", { text: token })).result.structuredContent).toEqual({ text: token });
  expect((await call("other_echo", { text: token })).result.structuredContent).toEqual({ text: mask });
});

test("a large result is masked too, before it is kept", async () => {
  const web = await startScripted({ transport: "http" });
  const goblin = await startGoblin({
    mcpServers: { web: web.entry },
    masking: { results: true },
    results: { over: "spill", maxTokens: 500, preview: 50 },
    metaTools: {},
  });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const text = `${"word ".repeat(200_000)}${token}`;
  const { message } = await client.call("tools/call", { name: "web_echo", arguments: { text } });
  const uri = message.result.content.find(({ type }: { type: string }) => type === "resource_link").uri;
  const read = await client.call("resources/read", { uri });
  expect(read.text).toContain(mask);
  expect(read.text).not.toContain(token);
});
