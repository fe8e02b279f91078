/** `goblin policy test` and `goblin explain`, as docs/policy.md shows them and beyond. */
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { type CommandHome, commandHome } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

const docs = readFileSync(new URL("../../docs/policy.md", import.meta.url), "utf8");
const blocks = (language: string): string[] =>
  [...docs.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map((match) => match[1]!);

function documented() {
  const home = commandHome();
  const [config, cases] = blocks("jsonc");
  const path = home.write("team.json", config!);
  const file = home.write("policy-cases.json", cases!);
  return { home, path, file, cases: cases! };
}

describe("the documentation", () => {
  test("shows cases as they run", async () => {
    const { home, path, file } = documented();
    const { code, out, err } = await home.goblin("policy", "test", file, "--config", path);
    expect([code, err]).toEqual([0, ""]);
    expect(`$ goblin policy test policy-cases.json\n${out}`).toBe(blocks("text")[0]);
  });

  test("shows an explanation as it is printed", async () => {
    const { home, path } = documented();
    const args = ["explain", "db/run", "--as", "ci", "--args", '{"sql":"drop table x"}', "--config", path];
    const { code, out } = await home.goblin(...args);
    expect(code).toBe(1);
    const shown = out.replaceAll(path, "goblin.json");
    expect(`$ goblin explain db/run --as ci --args '{"sql":"drop table x"}'\n${shown}`).toBe(blocks("text")[1]);
  });
});

describe("policy test", () => {
  test("fails with what is different, in words and in JSON", async () => {
    const { home, path, cases } = documented();
    const file = home.write(
      "wrong.json",
      cases.replace('"rule": "contractors"', '"rule": "drops"').replace('"owner": "acme"', '"owner": "evil"'),
    );
    const { code, out } = await home.goblin("policy", "test", file, "--config", path);
    expect(code).toBe(1);
    expect(out).toContain("FAIL contractors have no GitHub: expected rule drops, but contractors decides");
    expect(out).toContain('the server gets {"owner":"acme","title":"Hello"}');
    expect(out).toContain("1 of 3 cases hold");
    const json = JSON.parse((await home.goblin("policy", "test", file, "--config", path, "--json")).out) as {
      passed: number;
      failed: number;
      cases: { ok: boolean; visible: boolean; at: string }[];
    };
    expect(json).toMatchObject({ passed: 1, failed: 2 });
    expect(json.cases.map(({ ok, visible }) => [ok, visible])).toEqual([
      [false, false],
      [false, true],
      [true, true],
    ]);
    expect(json.cases[0]!.at).toBe(`${path}:16`);
  });

  test("refuses a file that is no list of cases", async () => {
    const { home, path } = documented();
    const bad = home.write("bad.json", '{ "cases": [{ "tool": "github/x", "expect": "maybe" }] }');
    const { code, err } = await home.goblin("policy", "test", bad, "--config", path);
    expect([code, err]).toEqual([2, expect.stringContaining("cases.0.expect")]);
  });
});

describe("explain", () => {
  test("knows annotations and names from a running gateway", async () => {
    const server = await startScripted({ transport: "stdio", name: "one", era: "legacy" });
    const policy = { rules: [{ id: "reads", effect: "deny", tools: ["@readOnly"], who: { principals: ["*"] } }] };
    const profiles = { small: { tools: { allow: ["add"] } }, large: {} };
    const config = { mcpServers: { one: { ...server.entry, prefix: "p_" } }, policy, profiles };
    const goblin = await startGoblin(config);
    const home = commandHome();
    const path = home.write("team.json", JSON.stringify(config));
    const run = (...args: string[]) =>
      home.goblin("explain", ...args, "--config", path, "--url", goblin.origin, "--json");
    const found = await run("p_echo");
    expect(found.code).toBe(1);
    expect(JSON.parse(found.out)).toMatchObject({
      server: "one",
      tool: "echo",
      exposed: "p_echo",
      known: true,
      effect: "deny",
      visible: false,
      decidedBy: "reads",
      rules: [{ id: "reads", effect: "deny", at: `${path}:1`, when: null }],
    });
    expect(JSON.parse((await run("echo")).out)).toMatchObject({ server: "one", tool: "echo" });
    const free = home.write("free.json", JSON.stringify({ ...config, policy: {} }));
    const at = (...args: string[]) => home.goblin("explain", "one/echo", "--config", free, ...args);
    expect(await at("--profile", "large")).toMatchObject({ code: 0, out: expect.stringContaining("seen     yes") });
    expect(await at("--profile", "small")).toMatchObject({ code: 1, out: expect.stringContaining("or a profile") });
  });

  test("asks a running gateway without a config at hand, also about prompts and URIs", async () => {
    const server = await startScripted({ name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: { ...server.entry, timeoutMs: 4321 } } });
    const home = commandHome();
    const ask = async (...args: string[]) => home.goblin("explain", ...args, "--url", goblin.origin);
    await home.goblin("call", "one_fail", "message=deliberate", "--url", goblin.origin);
    const facts = JSON.parse((await ask("one_fail", "--json")).out) as Record<string, unknown>;
    expect(facts).toMatchObject({
      kind: "tool",
      tool: "fail",
      server: "one",
      listed: true,
      state: "ready",
      timeout: { ms: 4321, from: "mcpServers.one.timeoutMs" },
      breaker: { open: false },
      rules: [],
      calls: 1,
      errors: 1,
      lastErrors: [{ code: expect.anything() }],
    });
    expect(await ask("one_fail", "--as", "ci")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/breaker +closed/),
    });
    expect((await ask("one+text:///hello")).out).toContain("resource text:///hello of one");
    expect(await ask("one_fial")).toMatchObject({ code: 2, err: expect.stringContaining('did you mean "one_fail"?') });
  });
});

/** Two servers, so that a bare name is nobody's. */
const write = (home: CommandHome): string =>
  home.write("team.json", {
    mcpServers: { one: { command: "true", prefix: "p_" }, github: { command: "true" } },
    profiles: { small: {} },
  });

test.each([
  ['{ "cases": [{ "expect": "deny" }] }', "a case names one tool"],
  ['{ "cases": [{ "tool": "x", "expect": "deny" }] }', "no server of the config"],
  ['{ "cases": [{ "server": "gone", "tool": "x", "expect": "deny" }] }', 'the server "gone"'],
  ["{ cases }", "expected"],
])("goblin policy test refuses %s", async (text, message) => {
  const home = commandHome();
  const { code, err } = await home.goblin("policy", "test", home.write("bad.json", text), "--config", write(home));
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

test.each([[["one/echo", "--profile", "none"]], [["p_nothing"]], [["p_echo", "--args", "[]"]]])(
  "goblin explain %s ends with exit code 2",
  async (args) => {
    const home = commandHome();
    expect((await home.goblin("explain", ...args, "--config", write(home))).code).toBe(2);
  },
);
