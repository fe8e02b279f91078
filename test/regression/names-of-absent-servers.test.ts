/**
 * A name under a configured server's prefix is that server's alone. `weather` lists everything that
 * a client could ask of `github`, under github's very names; whatever becomes of github, weather
 * never hears of such a request.
 */
import { afterEach, describe, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, type RawHttp, rawHttp, type Scripted, startScripted, until } from "../fixtures/peers.ts";
import { variants } from "../fixtures/thorough.ts";
import { requestsOf } from "../gateway/offerings/rig.ts";

afterEach(disposeAll);

const inputSchema = { type: "object" };
const claimed = {
  tools: [{ name: "github_push", inputSchema }],
  prompts: [{ name: "github_review" }],
  resources: [
    "github+repo:///secret",
    "GitHub+repo:///secret",
    "github_repo___secret",
    "github_repo_secret",
    "file:///github_repo___secret",
  ].map((uri) => ({ uri, name: uri })),
  resourceTemplates: ["github+repo:///{path}", "github_repo:///{path}", "file:///{path}"].map((uriTemplate) => ({
    uriTemplate,
    name: uriTemplate,
  })),
};

/** What a client may ask of github, by the error that says that github does not have it. */
const requests: [method: string, params: Record<string, unknown>, missing: string][] = [
  ["tools/call", { name: "github_push", arguments: { token: "secret" } }, "TOOL_NOT_FOUND"],
  ["tools/call", { name: "call_tool", arguments: { name: "github_push", arguments: {} } }, "TOOL_NOT_FOUND"],
  ["tools/call", { name: "describe_tool", arguments: { name: "github_push" } }, "TOOL_NOT_FOUND"],
  ["prompts/get", { name: "github_review" }, "PROMPT-001"],
  ["tools/call", { name: "describe_prompt", arguments: { name: "github_review" } }, "PROMPT-001"],
  [
    "completion/complete",
    { ref: { type: "ref/prompt", name: "github_review" }, argument: { name: "a", value: "" } },
    "PROMPT-001",
  ],
  ...[
    "github+repo:///secret",
    "GitHub+repo:///secret",
    "github_repo___secret",
    "github_repo:///secret",
    "github_repo_secret",
    "file:///github_repo___secret",
    "github+repo:///other",
    "github_repo:///other",
    "file:///github_other",
  ].flatMap((uri): typeof requests => [
    ["resources/read", { uri }, "RESOURCE_NOT_FOUND"],
    ["resources/subscribe", { uri }, "RESOURCE_NOT_FOUND"],
    ["resources/unsubscribe", { uri }, "RESOURCE_NOT_FOUND"],
    ["tools/call", { name: "describe_resource", arguments: { uri } }, "RESOURCE_NOT_FOUND"],
    [
      "completion/complete",
      { ref: { type: "ref/resource", uri }, argument: { name: "path", value: "" } },
      "RESOURCE_NOT_FOUND",
    ],
  ]),
];

interface Setting {
  readonly weather: Scripted;
  readonly github: Scripted;
  readonly client: RawHttp;
  readonly servers: Awaited<ReturnType<typeof startGoblin>>["gateway"]["servers"];
}

async function start(options: {
  prefix?: string;
  uris: string;
  github: { script?: Record<string, unknown>; entry?: Record<string, unknown> };
  config?: Record<string, unknown>;
}): Promise<Setting> {
  const weather = await startScripted({ name: "weather", transport: "http", script: { lists: claimed } });
  const github = await startScripted({ name: "github", script: options.github.script ?? {} });
  const entry = { ...weather.entry, ...(options.prefix !== undefined && { prefix: options.prefix }) };
  const goblin = await startGoblin(
    {
      mcpServers: { weather: entry, github: { ...github.entry, ...options.github.entry } },
      resources: { uris: options.uris },
      metaTools: { enabled: ["call_tool", "describe_tool", "describe_prompt", "describe_resource"] },
      ...options.config,
    },
    { wait: false },
  );
  const { servers } = goblin.gateway;
  await until(() => servers.status("weather")?.state === "ready", { what: "weather" });
  const client = rawHttp(goblin.url);
  await client.initialize();
  return { weather, github, client, servers };
}

/** Every request is refused as it should be, and weather was asked nothing. */
async function refused({ weather, client }: Setting, expected: (missing: string) => Record<string, unknown>) {
  const answers = await Promise.all(requests.map(([method, params]) => client.call(method, params)));
  for (const [i, [method, params, missing]] of requests.entries()) {
    const { result, error } = answers[i]!.message;
    const asked = `${method} ${JSON.stringify(params)}`;
    expect([asked, result, error?.data]).toMatchObject([asked, undefined, expected(missing)]);
  }
  expect(await requestsOf(weather)).toEqual([]);
}

const notFound = (code: string) => ({ code });
const unavailable = () => ({ code: "BACKEND_UNAVAILABLE", serverId: "github", retryAfterMs: expect.any(Number) });
const denied = { tools: [{ name: "push", inputSchema }], prompts: [], resources: [], resourceTemplates: [] };

const ways = variants<[uris: string, prefix: string | undefined]>(
  [
    ["prefixed", undefined],
    ["raw", ""],
  ],
  [
    ["flat", ""],
    ["raw", undefined],
  ],
);

describe.each(ways)("%s URIs, weather's prefix %j", (uris, prefix) => {
  const base = { uris, ...(prefix !== undefined && { prefix }) };

  test("github is disabled", async () => {
    await refused(await start({ ...base, github: { entry: { enabled: false } } }), notFound);
  });

  test("github's entry is not valid", async () => {
    const setting = await start({ ...base, github: { entry: { env: { KEY: "${env:GOBLIN_TEST_UNSET}" } } } });
    const reason = expect.stringContaining("the environment variable GOBLIN_TEST_UNSET is not set");
    await refused(setting, () => ({ code: "BACKEND_UNAVAILABLE", serverId: "github", reason }));
  });

  test("github's tool is denied, and it has nothing else", async () => {
    const github = { script: { lists: denied }, entry: { tools: { deny: ["push"] } } };
    const setting = await start({ ...base, github });
    await until(() => setting.servers.status("github")?.state === "ready", { what: "github" });
    await refused(setting, notFound);
  });

  test("github crashes at its start", async () => {
    const setting = await start({ ...base, github: { script: { start: { crash: 7 } } } });
    await until(() => setting.servers.status("github")?.state === "down", { what: "the crash" });
    await refused(setting, unavailable);
  });

  test("github is starting for longer than a request may take", async () => {
    const script = { rules: [{ method: "initialize", do: "hang" }] };
    const config = { timeouts: { callMs: 300, connectMs: 60_000 } };
    await refused(await start({ ...base, github: { script }, config }), unavailable);
  });

  test("github was there, crashed and was withdrawn", async () => {
    const config = { backends: { graceMs: 0 } };
    const setting = await start({ ...base, github: { script: { lists: denied } }, config });
    const { client, servers, github } = setting;
    const names = async (): Promise<string> => (await client.call("tools/list")).text;
    await until(() => servers.status("github")?.state === "ready", { what: "github" });
    expect(await names()).toContain('"github_push"');
    github.setScript({ start: { crash: 7 } });
    await github.kill();
    await until(async () => !(await names()).includes('"github_push"'), { what: "the withdrawal" });
    await until(() => servers.status("github")?.state === "down", { what: "the next crash" });
    await refused(setting, unavailable);
  });
});
