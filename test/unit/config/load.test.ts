import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigError } from "../../../src/config/problems/problem.ts";
import { configPlaces, findConfig } from "../../../src/config/reading/find.ts";
import { loadConfig } from "../../../src/config/reading/load.ts";
import { parseConfig } from "../../../src/config/reading/parse.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "goblin-load-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function failure(promise: Promise<unknown>): Promise<ConfigError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return error as ConfigError;
}

describe("loadConfig", () => {
  test("reads the file, its envFile, and resolves paths from its folder", async () => {
    await writeFile(join(folder, ".env"), "FROM_FILE='a b'\nBOTH=file\n");
    const path = join(folder, "goblin.json");
    await writeFile(
      path,
      '{ "mcpServers": { "a": { "command": "./a", "envFile": ".env", "env": { "BOTH": "${env:X}" } } } }',
    );
    const loaded = await loadConfig(path, { X: "env" });
    expect(loaded.path).toBe(path);
    expect(loaded.warnings).toEqual([]);
    expect(loaded.config.servers[0]?.transport).toEqual({
      kind: "stdio",
      command: join(folder, "a"),
      args: [],
      env: { BOTH: "env" },
      envFile: join(folder, ".env"),
      cwd: folder,
    });
  });

  test("takes the process's environment by default", async () => {
    const path = join(folder, "goblin.json");
    await writeFile(path, '{ "gateway": { "host": "${env:GOBLIN_TEST_HOST}" } }');
    process.env.GOBLIN_TEST_HOST = "::1";
    try {
      expect((await loadConfig(path)).config.gateway.host).toBe("::1");
    } finally {
      delete process.env.GOBLIN_TEST_HOST;
    }
  });

  test("a file that is missing, or is a folder", async () => {
    const path = join(folder, "nope.json");
    expect((await failure(loadConfig(path, {}))).message).toBe(`${path}: there is no such file`);
    expect((await failure(loadConfig(folder, {}))).message).toBe(`${folder}: this is a folder, not a file`);
  });

  test("a problem has file, line, column, key, message and hint", async () => {
    const path = join(folder, "goblin.json");
    await writeFile(path, '{\n  "gateway": {\n    "prot": 1\n  }\n}\n');
    const error = await failure(loadConfig(path, {}));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.problems).toEqual([
      { file: path, line: 3, column: 5, key: "gateway.prot", message: "unknown key", hint: 'did you mean "port"?' },
    ]);
    expect(error.message).toBe(`${path}:3:5 gateway.prot: unknown key (did you mean "port"?)`);
  });
});

describe("parseConfig", () => {
  test("refuses a file of nothing but brackets instead of exhausting the stack", () => {
    expect(() => parseConfig("[".repeat(200_000), { file: "goblin.json", env: {} })).toThrow(ConfigError);
  });

  // A-L2
  test("a client's name means its token alone where it lets that client do more, and any client elsewhere", () => {
    const rules = [
      { effect: "allow", who: { clients: ["ci", "web"] } },
      { effect: "deny", who: { clients: ["ci"] } },
    ];
    const auth = { clients: { ci: { token: "0123456789abcdef0123456789abcdef" } }, pairing: true };
    const publicUrl = "https://mcp.example.com";
    const text = JSON.stringify({
      gateway: { auth, publicUrl },
      policy: { rules },
      approvals: { trustClients: ["ci", "web"] },
    });
    const { config } = parseConfig(text, { file: "goblin.json", env: {} });
    expect(config.policy.rules.map(({ who }) => who?.clients)).toEqual([["token:ci", "web"], ["ci"]]);
    expect(config.approvals.trustClients).toEqual(["token:ci", "web"]);
  });
  test("a tool named like something that every object has finds no override", () => {
    const { config } = parseConfig('{ "mcpServers": { "a": { "command": "a" } } }', { file: "goblin.json", env: {} });
    expect(config.servers[0]?.tools.overrides.constructor).toBeUndefined();
  });
});

describe("findConfig", () => {
  test("the current folder first, then the user's", async () => {
    const env = { HOME: join(folder, "home"), XDG_CONFIG_HOME: join(folder, "xdg") };
    const cwd = join(folder, "project");
    const expected = [
      join(folder, "project", "goblin.json"),
      join(folder, "project", ".mcp.json"),
      join(folder, "xdg", "goblin", "goblin.json"),
      join(folder, "home", ".config", "goblin", "goblin.json"),
    ];
    expect(findConfig(cwd, env)).toBeUndefined();
    for (const place of expected.toReversed()) {
      await mkdir(join(place, ".."), { recursive: true });
      await writeFile(place, "{}");
      expect(findConfig(cwd, env)).toBe(place);
    }
  });

  test("APPDATA on Windows only", () => {
    const env = { HOME: "/h", APPDATA: "/appdata" };
    expect(configPlaces("/p", env, "win32")).toContain(join("/appdata", "goblin", "goblin.json"));
    expect(configPlaces("/p", env, "linux")).toEqual([
      "/p/goblin.json",
      "/p/.mcp.json",
      "/h/.config/goblin/goblin.json",
    ]);
  });
});
