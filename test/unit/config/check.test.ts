import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { check } from "../../../src/app/cli/commands/check.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "goblin-check-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

async function run(config?: string, env: Record<string, string> = {}) {
  let out = "";
  let err = "";
  const code = await check({
    config,
    cwd,
    env: { HOME: cwd, ...env },
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
      'goblin.json:5:16 mcpServers.docs.share: expected one of "auto", "all", "session" (did you mean "all"?)\n',
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

test("what will not start: a command line, a program or a folder that is missing", async () => {
  await mkdir(join(cwd, "bin"));
  await writeFile(join(cwd, "bin", "there"), "");
  await writeFile(join(cwd, "bin", "with space"), "");
  const servers = {
    there: { command: "there" },
    spaced: { command: "./bin/with space" },
    line: { command: "there --flag" },
    missing: { command: "nowhere" },
    path: { command: "./bin/nowhere" },
    folder: { command: "there", cwd: "nowhere" },
    own: { command: "hidden", env: { PATH: "/none" } },
    off: { command: "nowhere", enabled: false },
  };
  await writeFile(join(cwd, "x.json"), JSON.stringify({ mcpServers: servers }));
  const { code, err } = await run("x.json", { PATH: join(cwd, "bin") });
  expect(code).toBe(0);
  const told = err
    .trim()
    .split("\n")
    .map((line) => line.replace(/^\S+ warning: mcpServers\./, ""));
  expect(told).toEqual([
    'line.command: the command contains arguments, so no program has this name (put the program into "command" and each argument into "args")',
    "missing.command: this program is not on the PATH",
    "path.command: there is no such program",
    "folder.cwd: there is no such folder",
    "own.command: this program is not on the PATH",
  ]);
});
