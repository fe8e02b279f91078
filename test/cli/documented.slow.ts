/**
 * The commands that the documents about secrets, logins, pairing and clients show are run as they
 * stand there, by a shell that finds `goblin` on its PATH.
 */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { commandHome, PROGRAM } from "../fixtures/command.ts";
import { disposeAll, onDispose } from "../fixtures/dispose.ts";
import { startGuarded } from "../fixtures/guarded.ts";
import { startOidc } from "../fixtures/oidc.ts";
import { startScripted } from "../fixtures/scripted.ts";
import { freePort } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

const DEMO = fileURLToPath(new URL("../../dist/app/demo/main.js", import.meta.url));

/** The command lines of a document's blocks, without their comments. */
function commandsIn(document: string): string[] {
  const text = readFileSync(new URL(`../../docs/${document}`, import.meta.url), "utf8");
  const fenced = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  const blocks = fenced.filter(([, language]) => language === "").map(([, , block]) => block!);
  const lines = blocks.flatMap((block) => block.split("\n")).map((line) => line.replace(/\s+# .*/, "").trim());
  return lines.filter((line) => /(^|\| )goblin /.test(line));
}

/** A shell in a home of its own, with `goblin` and these programs on its PATH. */
function shell(programs: Record<string, string> = {}) {
  const home = commandHome();
  const bin = join(home.folder, "bin");
  mkdirSync(bin);
  const all = { goblin: `exec '${process.execPath}' '${PROGRAM}' "$@"`, ...programs };
  for (const [name, body] of Object.entries(all)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const env: NodeJS.ProcessEnv = { ...home.env, PATH: `${bin}:${home.env["PATH"]}`, GOBLIN_KEYCHAIN: "0" };
  const start = (line: string, input = "") => {
    const child = spawn("/bin/sh", ["-c", line], { cwd: home.folder, env });
    onDispose(() => void child.kill("SIGKILL"));
    const shown = { text: "" };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        shown.text += text;
      });
    }
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const ended = new Promise<{ line: string; code: number | null; text: string }>((resolve) =>
      child.once("close", (code) => resolve({ line, code, text: shown.text })),
    );
    return { child, shown, ended };
  };
  const place = (name: string, content: unknown): string => {
    const file = join(env["HOME"]!, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
    return file;
  };
  return { home, env, start, place, run: (line: string, input?: string) => start(line, input).ended };
}

test("docs/secrets.md", async () => {
  const commands = commandsIn("secrets.md");
  expect(commands).toHaveLength(4);
  const { run } = shell({ gh: 'test "$*" = "auth token" && echo gho_0123456789' });
  const shown: string[] = [];
  for (const line of commands) {
    const ran = await run(line, "typed-0123456789\n");
    expect(ran).toMatchObject({ line, code: 0 });
    shown.push(ran.text);
  }
  expect(shown[2]).toContain("GITHUB");
  expect(shown.join("")).not.toMatch(/gho_|typed-/);
});

test("docs/logins.md", async () => {
  const commands = commandsIn("logins.md");
  expect(commands).toHaveLength(3);
  const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
  const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
  const { home, env, start, run, place } = shell();
  place(".config/goblin/goblin.json", { mcpServers: { linear: { url: guarded.url } } });
  const opened = join(home.folder, "opened");
  env["BROWSER"] = home.write("browser", `#!/bin/sh\nprintf %s "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`);
  chmodSync(env["BROWSER"], 0o755);
  const [login, auth, logout] = commands as [string, string, string];
  const { ended } = start(login);
  await until(() => existsSync(opened), { what: "the browser" });
  await fetch(await oidc.login(readFileSync(opened, "utf8")));
  expect(await ended).toMatchObject({ code: 0, text: expect.stringContaining('Logged in to "linear"') });
  expect(await run(auth)).toMatchObject({ code: 0, text: expect.stringMatching(/linear .*logged-in .*mcp:use/) });
  expect(await run(logout)).toMatchObject({ code: 0 });
  expect((await run(auth)).text).toMatch(/linear .*no-login/);
});

test("docs/clients.md", async () => {
  const commands = commandsIn("clients.md");
  expect(commands).toHaveLength(4);
  const { env, start, run, place } = shell();
  env["GOBLIN_PORT"] = String(await freePort());
  const entry = { command: process.execPath, args: [DEMO, "notes"] };
  const cursor = place(".cursor/mcp.json", { mcpServers: { notes: entry } });
  place(".codex/config.toml", "");
  const before = readFileSync(cursor, "utf8");
  const [list, take, install, undo] = commands as [string, string, string, string];
  expect(await run(list)).toMatchObject({ code: 0, text: expect.stringMatching(/cursor +found[\s\S]*codex +found/) });
  expect(await run(take)).toMatchObject({ code: 0, text: expect.stringContaining("1 server") });
  const gateway = start("exec goblin serve");
  await until(() => gateway.shown.text.includes("listening on"), { what: "the gateway" });
  expect(await run(install)).toMatchObject({ code: 0 });
  expect(readFileSync(cursor, "utf8")).toContain('"goblin"');
  expect(await run(undo)).toMatchObject({ code: 0 });
  expect(readFileSync(cursor, "utf8")).toBe(before);
  gateway.child.kill("SIGTERM");
  await gateway.ended;
});

test("docs/pairing.md shows what goblin pair prints", async () => {
  const text = readFileSync(new URL("../../docs/pairing.md", import.meta.url), "utf8");
  const [, config = ""] = /^```jsonc\n([\s\S]*?)^```/m.exec(text) ?? [];
  const [, block = ""] = /^ {3}```\n([\s\S]*?)^ {3}```/m.exec(text) ?? [];
  const expected = block.replace(/^ {3}/gm, "").trim();
  const { start, run, place } = shell();
  place(".config/goblin/goblin.json", config);
  const pair = start("exec goblin pair");
  await until(() => /good for one client/.test(pair.shown.text), { what: "the code" });
  const digits = (shown: string): string => shown.replace(/\d{4} \d{4}/, "0000 0000");
  expect(digits(pair.shown.text)).toContain(digits(expected));
  pair.child.kill("SIGINT");
  await pair.ended;
  expect(text).toContain("`goblin grants`");
  expect(await run("goblin grants")).toMatchObject({ code: 0 });
});
