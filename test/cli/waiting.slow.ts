/**
 * What a person sees while a command waits, and what an error says afterwards. Each wait ends when
 * the spinner was seen: ^C is typed then.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { errorPage } from "../../src/app/cli/terminal/error-page.ts";
import { errorTable } from "../../src/mcp/protocol/errors.ts";
import { type CommandHome, commandHome, hasScript } from "../fixtures/command.ts";
import { onDispose } from "../fixtures/dispose.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { PRM, startMalicious } from "../fixtures/malicious.ts";
import { connectV1, disposeAll, startScripted } from "../fixtures/peers.ts";

vi.setConfig({ testTimeout: 90_000 });

const BREAK = "\u0003";
let home: CommandHome;
let at: string[];
beforeAll(async () => {
  const rules = [
    { method: "resources/read", name: "text:///hello", do: "hang" },
    { method: "resources/read", name: "blob:///pixel", do: "late", ms: 700 },
    { method: "prompts/get", do: "hang" },
    { method: "tools/call", name: "echo", do: "hang" },
    { method: "tools/call", name: "fail", do: "error", code: -32050, message: "no", data: { code: "MINE" } },
  ];
  const server = await startScripted({ name: "slow", script: { rules } });
  const entry = { ...server.entry, tools: { overrides: { sleep: { timeoutMs: 300 } } } };
  at = ["--url", (await startGoblin({ mcpServers: { slow: entry } })).origin];
});
beforeEach(() => {
  home = commandHome();
});
afterAll(disposeAll);

describe.runIf(hasScript)("on a terminal", () => {
  test.each([
    [["read", "slow+text:///hello"], "reading slow+text:///hello"],
    [["prompt", "slow_greet", "name=Ada"], "waiting for slow_greet"],
    [["call", "slow_echo", "text=a"], "waiting for slow_echo"],
  ])("%j says what it waits for", async (args, text) => {
    const { shown, code } = await home.onTerminal([...args, ...at], { typing: [[text, BREAK]] });
    expect(code).not.toBe(0);
    expect(shown).toMatch(new RegExp(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] ${text.replace(/[+/]/g, "\\$&")}`));
  });

  test("a gateway that does not answer is named", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onDispose(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const text = `waiting for the gateway at ${url}`;
    const commands = [["list", "tools"], ["status"], ["preflight", "x"], ["explain", "x"], ["tokens"]];
    const seen = await Promise.all(
      commands.map((command) => home.onTerminal([...command, "--url", url], { typing: [[text, BREAK]] })),
    );
    for (const { shown } of seen) expect(shown).toContain(text);
  });

  test("a login says what it asks, and that it waits for the browser", async () => {
    const [silent, honest] = await Promise.all([startMalicious(), startMalicious()]);
    silent.answers.set("/mcp", { status: 0 });
    honest.answers.set("/mcp", {
      status: 401,
      headers: { "www-authenticate": `Bearer resource_metadata="${honest.origin}${PRM}"` },
    });
    const config = home.write("logins.json", { mcpServers: { silent: { url: silent.url }, far: { url: honest.url } } });
    const login = (id: string, text: string) =>
      home.onTerminal(["login", id, "--no-browser", "--config", config], { typing: [[text, BREAK]] });
    const [asking, waiting] = await Promise.all([
      login("silent", "asking silent"),
      login("far", "waiting for the login in the browser"),
    ]);
    expect(asking!.shown).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] asking silent/);
    expect(waiting!.shown).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] waiting for the login in the browser/);
  });

  test("a comparison with a recording counts what it repeats", async () => {
    const server = await startScripted({ name: "one" });
    const dir = join(home.folder, "recorded");
    const { gateway, url } = await startGoblin({ mcpServers: { one: server.entry }, record: { dir } });
    const { client } = await connectV1({ url });
    await client.readResource({ uri: "one+text:///hello" });
    await client.close();
    await gateway.close();
    server.setScript({ rules: [{ method: "resources/read", do: "hang" }] });
    const config = home.write("against.json", { mcpServers: { one: server.entry } });
    const text = "repeating requests at one: 0 of 1";
    const { shown } = await home.onTerminal(["replay", dir, "--against", "one", "--config", config], {
      typing: [[text, BREAK]],
    });
    expect(shown).toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] repeating requests at one: 0 of 1/);
  });

  test("with --json, with NO_COLOR and on a terminal that cannot erase, nothing moves", async () => {
    const args = ["read", "slow+blob:///pixel", ...at];
    const quiet = await Promise.all([
      home.onTerminal([...args, "--json"]),
      home.onTerminal(args, { env: { NO_COLOR: "1" } }),
      home.onTerminal(args, { env: { TERM: "dumb" } }),
    ]);
    for (const { code, shown } of quiet) {
      expect(code).toBe(0);
      expect(shown).not.toContain("reading");
      expect(shown).not.toContain("\u001b");
    }
  });
});

test("an error of the gateway names the page that says what to do; one of a server does not", async () => {
  const slow = await home.goblin("call", "slow_sleep", "ms=60000", ...at);
  expect(slow.err).toMatch(/^goblin: Timeout: .*\nWhat to do: docs\/errors\.md#timeout\n$/);
  const json = await home.goblin("call", "slow_sleep", "ms=60000", ...at, "--json");
  expect(JSON.parse(json.err)).toMatchObject({ error: { rpcCode: -32001, page: "docs/errors.md#timeout" } });
  const own = await home.goblin("call", "slow_fail", "message=x", ...at);
  expect(own.err).toBe("goblin: no\n");
});

test("every code of the gateway has a page, and no other", () => {
  const codes = [...Object.values(errorTable).map(({ wire }) => wire), "SERVER_NOT_FOUND", "FORBIDDEN"];
  for (const code of codes) expect(errorPage(code)).toMatch(/^docs\/errors\.md#[a-z0-9_-]+$/);
  for (const code of [undefined, null, "MINE", 7, {}]) expect(errorPage(code)).toBeUndefined();
});
