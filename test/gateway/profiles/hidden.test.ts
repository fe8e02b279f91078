/**
 * What a client may not see: for every method the answer has the same bytes as on a gateway where
 * the thing does not exist at all. Nothing that a hidden server sends reaches the client.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type RunningGoblin, startGoblin } from "../../fixtures/goblin.ts";
import {
  connectV1,
  disposeAll,
  type RawHttp,
  rawHttp,
  type Scripted,
  startScripted,
  until,
} from "../../fixtures/peers.ts";

afterEach(disposeAll);

/** What the profile hides; `lean` lacks it. */
const HIDDEN = {
  tools: ["sleep", "whoami"],
  prompts: ["rich"],
  resources: ["blob:///pixel", "item://secret/*"],
  templates: ["query://search{?q,limit}"],
};
const TOOLS = ["echo", "sleep", "whoami"].map((name) => ({ name, inputSchema: { type: "object" } }));
const PROMPTS = [{ name: "greet" }, { name: "rich" }];
const RESOURCES = [
  { uri: "text:///hello", name: "hello" },
  { uri: "blob:///pixel", name: "pixel" },
];
const TEMPLATES = [
  { uriTemplate: "item://{kind}/{id}", name: "item" },
  { uriTemplate: "query://search{?q,limit}", name: "search" },
];

let full: RunningGoblin;
let lean: RunningGoblin;
let db: Scripted;

/** `full` has a profile that shows what there is in `lean`. */
beforeEach(async () => {
  const [fat, thin, other] = await Promise.all([
    startScripted({ name: "web" }),
    startScripted({ name: "web" }),
    startScripted({ name: "db" }),
  ]);
  db = other;
  const profile = {
    servers: ["web"],
    tools: { deny: HIDDEN.tools },
    prompts: { deny: HIDDEN.prompts },
    resources: { deny: [...HIDDEN.resources, ...HIDDEN.templates] },
  };
  full = await startGoblin({ mcpServers: { web: fat.entry, db: db.entry }, profiles: { lean: profile } });
  lean = await startGoblin({ mcpServers: { web: thin.entry } });
  const without = <Entry extends object>(list: readonly Entry[], key: keyof Entry, hidden: readonly string[]) =>
    list.filter((entry) => !hidden.includes(String(entry[key])));
  await fat.control("set_tools", { keep: false, tools: TOOLS });
  await fat.control("set_prompts", { keep: false, prompts: PROMPTS });
  await fat.control("set_resources", { keep: false, resources: RESOURCES, templates: TEMPLATES });
  await thin.control("set_tools", { keep: false, tools: without(TOOLS, "name", HIDDEN.tools) });
  await thin.control("set_prompts", { keep: false, prompts: without(PROMPTS, "name", HIDDEN.prompts) });
  await thin.control("set_resources", {
    keep: false,
    resources: without(RESOURCES, "uri", HIDDEN.resources),
    templates: without(TEMPLATES, "uriTemplate", HIDDEN.templates),
  });
  const settled = ({ gateway }: RunningGoblin, templates: number) =>
    until(
      () =>
        gateway.catalog.snapshot.resources.templates.filter(({ serverId }) => serverId === "web").length === templates,
    );
  await Promise.all([settled(full, 2), settled(lean, 1)]);
});

const NAMES = ["web_sleep", "sleep", "web_whoami", "db_echo", "db_nothing", "web_nothing", "echo"];
const PROMPT_NAMES = ["web_rich", "rich", "db_greet", "db_rich", "web_nothing"];
const URIS = [
  "web+blob:///pixel",
  "blob:///pixel",
  "web_blob:///pixel",
  "db+text:///hello",
  "db_text:///hello",
  "db+nothing:///",
  "web+query://search?q=a",
  "web+nothing:///",
];
const REFERENCES = [
  ...PROMPT_NAMES.map((name) => ({ type: "ref/prompt", name })),
  ...[...URIS, "web+query://search{?q,limit}", "db+item://{kind}/{id}"].map((uri) => ({ type: "ref/resource", uri })),
];
const argument = { name: "q", value: "a" };

/** Every request that can name something. */
function requests(): { readonly method: string; readonly params: object }[] {
  const call = (name: string, given: object) => ({ method: "tools/call", params: { name, arguments: given } });
  return [
    ...["tools/list", "prompts/list", "resources/list", "resources/templates/list"].map((method) => ({
      method,
      params: {},
    })),
    ...NAMES.map((name) => call(name, { ms: 1 })).filter(({ params }) => params.name !== "echo"),
    ...NAMES.flatMap((name) => [call("describe_tool", { name }), call("call_tool", { name, arguments: { ms: 1 } })]),
    ...PROMPT_NAMES.flatMap((name) => [
      { method: "prompts/get", params: { name, arguments: { name: "x" } } },
      call("describe_prompt", { name }),
    ]),
    ...URIS.flatMap((uri) => [
      ...["resources/read", "resources/subscribe", "resources/unsubscribe"].map((method) => ({
        method,
        params: { uri },
      })),
      call("describe_resource", { uri }),
    ]),
    ...REFERENCES.map((ref) => ({ method: "completion/complete", params: { ref, argument } })),
    ...["tasks/get", "tasks/result", "tasks/cancel"].map((method) => ({ method, params: { taskId: "db.x.1" } })),
    { method: "tasks/list", params: {} },
    { method: "db/anything", params: { name: "db_echo" } },
    ...["tools", "prompts", "resources"].flatMap((what) => [
      call(`search_${what}`, { query: "sleep whoami rich pixel search db", limit: 100 }),
      call(`search_${what}`, { query: "", limit: 100 }),
      call(`search_${what}`, { query: "", serverId: "db" }),
      call(`catalog_${what}`, {}),
      call(`catalog_${what}`, { serverId: "db" }),
    ]),
    call("catalog_resource_templates", {}),
    call("catalog_servers", {}),
    call("catalog_servers", { serverId: "db" }),
    { method: "logging/setLevel", params: { level: "debug" } },
  ];
}

/** What differs between any two requests or gateways. */
const anonymous = (text: string): string => text.replace(/"requestId":"[^"]*"/g, '"requestId":""');

async function answers(client: RawHttp): Promise<string[]> {
  const given: string[] = [];
  for (const { method, params } of requests()) {
    const { text } = await client.call(method, params, 7);
    given.push(`${method} ${JSON.stringify(params)} → ${anonymous(text)}`);
  }
  return given;
}

describe("what a profile hides", () => {
  test("is answered as if it did not exist, to a client with a session", async () => {
    const [hidden, absent] = [rawHttp(full.url.replace("/mcp", "/mcp/p/lean")), rawHttp(lean.url)];
    const [one, other] = [await hidden.initialize(), await absent.initialize()];
    expect(one.text).toBe(other.text);
    expect(await answers(hidden)).toEqual(await answers(absent));
    expect(await db.received("tools/call")).toEqual([]);
    expect(await db.received("resources/read")).toEqual([]);
  });

  test("cannot be read through a template that it shows", async () => {
    const client = rawHttp(full.url.replace("/mcp", "/mcp/p/lean"));
    await client.initialize();
    const read = async (uri: string) => anonymous((await client.call("resources/read", { uri }, 7)).text);
    expect(await read("web+item://public/1")).toContain("contents");
    for (const uri of ["web+item://secret/1", "item://secret/1", "web_item://secret/1"]) {
      expect((await read(uri)).replaceAll(uri, "web+other:///1")).toBe(await read("web+other:///1"));
    }
  });

  test("is answered as if it did not exist, to a client without a session", async () => {
    const version = "2026-07-28";
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    };
    const stateless = async (url: string): Promise<string[]> => {
      const given: string[] = [];
      for (const { method, params } of [{ method: "server/discover", params: {} }, ...requests()]) {
        const { name, uri } = params as { name?: string; uri?: string };
        const named = name ?? uri;
        const headers = {
          "mcp-protocol-version": version,
          "mcp-method": method,
          ...(named !== undefined && { "mcp-name": named }),
        };
        const { text, status } = await rawHttp(url).post(
          { jsonrpc: "2.0", id: 7, method, params: { ...params, _meta } },
          headers,
        );
        // A list of which others see more is for nobody else's cache.
        given.push(`${method} ${JSON.stringify(params)} → ${status} ${anonymous(text)}`);
      }
      return given;
    };
    expect(await stateless(full.url.replace("/mcp", "/mcp/p/lean"))).toEqual(await stateless(lean.url));
    expect(await db.received("tools/call")).toEqual([]);
  });

  test("sends nothing to the client: no log message, no change, no update", async () => {
    const { client, notifications } = await connectV1({ url: full.url.replace("/mcp", "/mcp/p/lean") });
    await client.setLoggingLevel("debug");
    await db.control("log", { level: "error", text: "from db" });
    await db.control("set_tools", { tools: [{ name: "new", inputSchema: { type: "object" } }] });
    await until(() => full.gateway.catalog.snapshot.tools.find("db_new") !== undefined);
    await db.control("flood", { kind: "tools", count: 3 });
    await client.subscribeResource({ uri: "web+text:///hello" });
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain("db_new");
    expect(notifications).toEqual([]);
  });
});
