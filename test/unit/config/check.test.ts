import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { check } from "../../../src/cli/commands/check.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "goblin-check-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

async function run(config?: string) {
  let out = "";
  let err = "";
  const code = await check({
    config,
    cwd,
    env: { HOME: cwd },
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

test("a valid config that it found by itself", async () => {
  await writeFile(
    join(cwd, "goblin.json"),
    '{ "mcpServers": { "a": { "command": "a" }, "b": { "command": "b" }, "c": { "command": "c", "enabled": false } } }',
  );
  expect(await run()).toEqual({ code: 0, out: "goblin.json: OK, 3 servers (1 disabled)\n", err: "" });
});

test("warnings do not fail it", async () => {
  await writeFile(join(cwd, "x.json"), '{\n  "globalShortcut": "",\n  "servers": { "a": { "command": "a" } }\n}');
  expect(await run("x.json")).toEqual({
    code: 0,
    out: "x.json: OK, 1 server\n",
    err: "x.json:2:3 warning: globalShortcut: ignored: a setting of another program\n",
  });
});

test("every problem on a line of its own", async () => {
  await writeFile(
    join(cwd, "goblin.json"),
    '{\n  "mcpServers": {\n    "docs": {\n      "urll": "http://x",\n      "share": "al"\n    }\n  }\n}\n',
  );
  expect(await run("./goblin.json")).toEqual({
    code: 1,
    out: "",
    err: [
      'goblin.json:4:7 mcpServers.docs.urll: unknown key (did you mean "url"?)\n',
      'goblin.json:5:16 mcpServers.docs.share: expected one of "all", "session" (did you mean "all"?)\n',
    ].join(""),
  });
});

test("a named file that is missing", async () => {
  expect(await run("nope.json")).toEqual({ code: 1, out: "", err: "nope.json: there is no such file\n" });
});

test("a file outside the current folder is shown in full", async () => {
  const path = join(cwd, "..", "goblin-nope.json");
  expect((await run(path)).err).toBe(`${path}: there is no such file\n`);
});

test("no config at all: says where it looked", async () => {
  const { code, err } = await run();
  expect(code).toBe(1);
  expect(err).toBe(
    `no config found; looked for:\n  ${cwd}/goblin.json\n  ${cwd}/.mcp.json\n  ${cwd}/.config/goblin/goblin.json\n`,
  );
});
