/**
 * The documents cannot lie: what they show is run, what they cite exists, and what is generated is
 * current.
 */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiStatuses } from "../src/admin/api/failure.ts";
import { fixed } from "../src/config/fixed.ts";
import { formatProblem } from "../src/config/problems/problem.ts";
import { parseConfig } from "../src/config/reading/parse.ts";
import { configReference } from "../src/config/schema/reference.ts";
import { errorTable } from "../src/mcp/protocol/errors.ts";
import { connectV1 } from "./fixtures/clients.ts";
import { startGoblin } from "./fixtures/goblin.ts";
import { disposeAll, rawHttp } from "./fixtures/peers.ts";
import { serveHome, startServe } from "./fixtures/serve.ts";

const run = promisify(execFile);
const root = new URL("..", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const readme = read("README.md");
const documents = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(new URL("docs/", root))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** The variables that the documents' configs name. */
const configEnv = {
  DOCS_TOKEN: "x",
  TOKEN_ADA: "x",
  TOKEN_CI: "x",
  TOKEN_ADMIN: "x",
  CRM_SECRET: "x",
  POD_IP: "10.0.0.5",
  CLUSTER_SECRET: "x".repeat(32),
};

function blocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map((match) => match[1]!);
}

test("the two commands stand at the top of the README, as CI runs them", () => {
  const [first, , third] = blocks(readme, "sh");
  expect(first).toBe("npm ci && npm start\n");
  expect(third).toBe("npm ci && npm test\n");
  expect(read(".ci/run")).toContain("npm ci && npm run test:all");
  expect(JSON.parse(read("package.json")).scripts["test:all"]).toMatch(/^npm test && /);
  expect(read(".ci/run")).toContain("npm ci && exec npm start");
});

test.each(documents)("every path that %s links to exists", (document) => {
  const base = new URL(document, root);
  const links = [...read(document).matchAll(/\]\(([^)#]+)(#[^)]*)?\)/g)].map((match) => match[1]!);
  const missing = links.filter((link) => !/^[a-z]+:/.test(link) && !existsSync(new URL(link, base)));
  expect(missing).toEqual([]);
});

test.each(documents)("every config that %s shows is valid", (document) => {
  for (const text of blocks(read(document), "jsonc").filter((block) => block.includes('"mcpServers"'))) {
    expect(() => parseConfig(text, { file: "goblin.json", env: configEnv })).not.toThrow();
  }
});

test("docs/configuration.md is current", () => {
  expect(read("docs/configuration.md"), "run `npm run build`").toBe(configReference());
});

test("docs/errors.md lists every code with its number", () => {
  const rows = [...read("docs/errors.md").matchAll(/^\| `([^`]+)` \| (-\d+) \|/gm)].map(([, code, number]) => [
    code,
    Number(number),
  ]);
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(Object.values(errorTable).map(({ wire, rpc }) => [wire, rpc])),
  );
});

test("docs/errors.md lists every code of the API with its status", () => {
  const rows = [...read("docs/errors.md").matchAll(/^\| `([^`]+)` \| (\d{3}) \|/gm)].map(([, code, status]) => [
    code,
    Number(status),
  ]);
  const own = new Set(Object.values(errorTable).map(({ wire }) => wire as string));
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(Object.entries(apiStatuses).filter(([code]) => !own.has(code))),
  );
});

test("docs/errors.md says for every code who causes it and what to do, and for no other", () => {
  const parts = read("docs/errors.md").split(/^## /m).slice(1);
  expect(parts.map((part) => part.split("\n", 1)[0]).sort()).toEqual(
    [...new Set([...Object.values(errorTable).map(({ wire }) => wire), ...Object.keys(apiStatuses)])].sort(),
  );
  for (const part of parts) expect(part).toMatch(/^.+\n\nCaused by: .+\.\n\n\S.+/);
});

test("docs/security.md shows the defaults that count", () => {
  const { config } = parseConfig('{ "mcpServers": {} }', { file: "goblin.json", env: {} });
  const sections = Object.entries({ limits: config.limits, timeouts: config.timeouts, log: config.log });
  const defaults = sections.flatMap(([name, section]) =>
    Object.entries(section).map(([key, value]) => {
      const isFixed = Object.hasOwn(fixed[name as keyof typeof fixed], key);
      return [isFixed ? key : `${name}.${key}`, String(value)] as const;
    }),
  );
  const rows = [...read("docs/security.md").matchAll(/^\| `([\w.]+)` \| (\d+) \|/gm)].map(([, key, value]) => [
    key,
    value,
  ]);
  expect(rows.length).toBeGreaterThan(15);
  expect(defaults).toEqual(expect.arrayContaining(rows));
});

test("the README's first config is examples/goblin.json, which names its schema", () => {
  const example = read("examples/goblin.json");
  const line = '  "$schema": "../schema/goblin.schema.json",\n';
  expect(example).toContain(line);
  expect(blocks(readme, "jsonc")[0]).toBe(`// goblin.json\n${example.replace(line, "")}`);
});

test("the mistake that the README shows is reported as it says", async () => {
  const [shown] = blocks(readme, "text");
  const text = `{
  "mcpServers": {
    "everything": { "command": "npx" },
    "files": { "command": "npx" },
    // remote
    "docs": {
      "urll": "https://example.com/mcp",
      "url": "https://example.com/mcp"
    }
  }
}`;
  const { problems } = parseConfig(text, { file: "goblin.json", env: {} });
  expect(problems.map(formatProblem)).toEqual([shown!.trim()]);
});

describe("the recipes for clients", () => {
  afterAll(disposeAll);
  const [, section = ""] = /^## Connect your clients\n([\s\S]*?)^## /m.exec(readme) ?? [];

  test("are valid JSON, for clients that take neither comments nor trailing commas", () => {
    const recipes = blocks(section, "json").map((text) => JSON.parse(text) as Record<string, object>);
    expect(recipes.map((recipe) => Object.keys(recipe).join())).toEqual(["mcpServers", "mcpServers", "servers"]);
  });

  test("lead to the running gateway", async () => {
    const started = [...section.matchAll(/"goblin-mcp", (.*)\]|goblin-mcp (stdio .*)/g)].map(
      ([, list, words]) => (list === undefined ? words!.split(" ") : JSON.parse(`[${list}]`)) as string[],
    );
    expect(new Set(started.map(String))).toEqual(new Set(["stdio,--attach,--config,/home/me/goblin.json"]));
    expect(started).toHaveLength(3);
    const home = await serveHome({ mcpServers: {} });
    const { origin } = await startServe(home);
    const program = [process.execPath, "bin/goblin.js", ...started[0]!.with(-1, home.configFile)];
    const state = `XDG_STATE_HOME=${join(home.folder, "state")}`;
    const { client, close } = await connectV1({ command: "env", args: [state, ...program] });
    expect(client.getServerVersion()?.name).toBe("goblin");
    const sessions = (await (await fetch(`${origin}/api/sessions`)).json()) as { total: number };
    expect(sessions.total).toBe(1);
    await close();
  });
});

test("sessions survive kill -9, as the README says", async () => {
  const program = new URL("../dist/app/demo/main.js", import.meta.url).pathname;
  const home = await serveHome({ mcpServers: { clock: { command: process.execPath, args: [program, "clock"] } } });
  const killed = await startServe(home);
  const client = rawHttp(killed.url);
  await client.initialize();
  expect((await client.call("tools/call", { name: "clock_now" })).status).toBe(200);
  killed.signal("SIGKILL");
  await killed.exited;
  await startServe(home);
  const { status, message } = await client.call("tools/call", { name: "clock_now" });
  expect([status, message.result?.isError ?? false]).toEqual([200, false]);
  await disposeAll();
});

describe("the commands of the README", () => {
  let url = "";
  const goblin = (...args: string[]) => run(process.execPath, ["bin/goblin.js", ...args], { cwd: root });

  beforeAll(async () => {
    const program = new URL("../dist/app/demo/main.js", import.meta.url).pathname;
    const mcpServers = Object.fromEntries(
      ["clock", "notes", "lab"].map((id) => [id, { command: process.execPath, args: [program, id] }]),
    );
    url = (await startGoblin({ mcpServers })).origin;
  });
  afterAll(disposeAll);

  test("list resources prints what is shown", async () => {
    const [, shown] = blocks(readme, "text");
    const { stdout } = await goblin("list", "resources", "--url", url);
    expect(`$ goblin list resources\n${stdout}`.trim()).toBe(shown!.trim());
  });

  test("list tools and call work as shown", async () => {
    expect(readme).toContain("node bin/goblin.js list tools\nnode bin/goblin.js call clock_now\n");
    expect((await goblin("list", "tools", "--url", url)).stdout).toContain("clock_now");
    expect((await goblin("call", "clock_now", "--url", url)).stdout).toContain('"timeZone": "UTC"');
  });

  test("check accepts the example", async () => {
    const env = { ...process.env, DOCS_TOKEN: "x" };
    const args = ["bin/goblin.js", "check", "--config", "examples/goblin.json"];
    const { stdout } = await run(process.execPath, args, { cwd: root, env });
    expect(stdout).toBe("examples/goblin.json: OK, 3 servers (1 disabled)\n");
  });
});
