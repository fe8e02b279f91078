/**
 * The single executable (`npm run build:binary`), as somebody uses it who has no Node.js: on a PATH
 * without one, in a folder of its own. Needs what `npm run build` writes, and npm's registry for
 * the Node.js inside; without it, the tests skip themselves.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, expect, test } from "vitest";
import { type CommandHome, commandHome, hasScript } from "../fixtures/command.ts";
import { connectV1, connectV2, disposeAll, onDispose, until } from "../fixtures/peers.ts";
import { isRunning } from "../fixtures/processes.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "goblin-executable-"));
const goblin = join(folder, "goblin");
const built = spawnSync(process.execPath, [join(root, "scripts/build-binary.js"), "--out", goblin], {
  encoding: "utf8",
});
const isBuilt = built.status === 0;
if (!isBuilt) console.warn(`the executable could not be built, so it is not tested: ${built.stderr}`);

afterEach(disposeAll);
afterAll(() => rmSync(folder, { recursive: true }));

/** A user without Node.js: only the system's shell is on the PATH. */
function home(): CommandHome {
  const made = commandHome([goblin]);
  const bin = join(made.folder, "bin");
  mkdirSync(bin);
  copyFileSync("/bin/sh", join(bin, "sh"));
  made.env["PATH"] = bin;
  return made;
}

/** The address of a gateway of this executable. */
async function serve(made: CommandHome, ...args: string[]): Promise<string> {
  const child = made.start(["serve", "--port", "0", ...args]);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (said += chunk));
  const address = (): string | undefined => /listening on (http:\S+)\/mcp/.exec(said)?.[1];
  await until(() => address() ?? child.exitCode !== null, { what: "the executable to listen" });
  return address() ?? expect.fail(`it ended: ${said}`);
}

test.runIf(process.env["GOBLIN_CI"])("CI builds it", () => expect(built.stderr).toBe(""));

test.runIf(isBuilt)("serves the demo to clients of both eras, the page and the metrics", async () => {
  const made = home();
  const origin = await serve(made);
  for (const { client } of [
    await connectV1({ url: `${origin}/mcp` }),
    await connectV2({ url: `${origin}/mcp`, era: "modern" }),
  ]) {
    await until(async () => (await client.listTools()).tools.some(({ name }) => name === "clock_now"));
    const { structuredContent } = await client.callTool({ name: "clock_now", arguments: {} });
    expect(structuredContent).toMatchObject({ timeZone: "UTC" });
  }
  expect(await (await fetch(`${origin}/ui`)).text()).toContain("<!doctype html>");
  const files = ["page.js", "style.css", "icon.svg"];
  for (const name of files)
    expect(await (await fetch(`${origin}/ui/${name}`)).text()).toBe(
      readFileSync(join(root, "bundle/page", name), "utf8"),
    );
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  expect(await (await fetch(`${origin}/metrics`)).text()).toContain(`mcpBuildInfo{version="${version}"} 1`);
  expect((await made.goblin("call", "clock_now", "--url", origin)).out).toContain('"timeZone": "UTC"');
});

test.runIf(isBuilt)("is a server over stdio, alone and as a pipe into a gateway that it starts", async () => {
  const made = home();
  const config = made.write("goblin.json", { gateway: { port: 0 }, mcpServers: {} });
  const env = made.env as Record<string, string>;
  const alone = await connectV1({ command: goblin, args: ["stdio"], env, cwd: tmpdir() });
  await until(async () => (await alone.client.listTools()).tools.some(({ name }) => name === "notes_search"));
  await alone.close();

  const records = join(env["HOME"]!, ".local/state/goblin/gateways");
  const pids = (): number[] =>
    readdirSync(records)
      .filter((name) => name.endsWith(".json"))
      .map((name) => (JSON.parse(readFileSync(join(records, name), "utf8")) as { pid: number }).pid);
  onDispose(() => {
    for (const pid of pids()) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  });
  const args = ["stdio", "--attach", "--config", config];
  const piped = await connectV2({ command: goblin, args, env, cwd: made.folder });
  expect(piped.client.getServerVersion()).toMatchObject({ name: "goblin" });
  expect(pids().filter(isRunning)).toHaveLength(1);
});

test.runIf(isBuilt)("records with the thread that is inside", async () => {
  const made = home();
  const recordings = join(made.folder, "recordings");
  const origin = await serve(made, "--config", made.write("goblin.json", { record: { dir: recordings } }));
  const { client } = await connectV1({ url: `${origin}/mcp` });
  await client.listTools();
  const size = (): number => {
    const files = readdirSync(recordings, { recursive: true, encoding: "utf8" }).map((file) => join(recordings, file));
    return files.reduce((sum, file) => sum + (statSync(file).isFile() ? statSync(file).size : 0), 0);
  };
  await until(() => statSync(recordings, { throwIfNoEntry: false }) && size() > 0, { what: "a recording" });
});

test.runIf(isBuilt && hasScript)("shows the dashboard", async () => {
  const made = home();
  const origin = await serve(made);
  made.env["PATH"] = process.env["PATH"];
  const { code } = await made.onTerminal(["tui", "--url", origin], { typing: [["3 Tools 11", "q"]] });
  expect(code).toBe(0);
});

test.runIf(isBuilt)("writes itself, and nothing inside of it, into a client's settings", async () => {
  const made = home();
  const config = made.write("goblin.json", { mcpServers: {} });
  const { out } = await made.goblin("install", "claude-desktop", "--dry-run", "--config", config);
  expect(out).toContain(`"command": "${goblin}"`);
  expect(out).not.toContain('goblin.js"');
});
