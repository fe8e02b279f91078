/**
 * The container image, without a container engine: its Dockerfile is checked by hadolint, and its
 * entry point runs as in the container. bubblewrap gives it a root that is read-only, process
 * number 1, the user 1000 without a capability, and the package as npm installs it.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { cert, key } from "../fixtures/certificate.ts";
import { connectV1, connectV2, disposeAll, onDispose, until } from "../fixtures/peers.ts";
import { descendants, isRunning } from "../fixtures/processes.ts";
import { freePort } from "../fixtures/serve.ts";
import { hasTool } from "./tools.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");
const folder = realpathSync(mkdtempSync(join(tmpdir(), "goblin-image-")));
const health = join(root, "deploy/docker/health.mjs");

afterEach(disposeAll);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the Dockerfile", () => {
  test.runIf(hasTool("hadolint", "--version"))("has nothing that hadolint knows better", () => {
    const { stdout, status } = spawnSync("hadolint", [join(root, "Dockerfile")], { encoding: "utf8" });
    expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
  });

  test("copies what exists, and what .dockerignore lets through", () => {
    const lines = readFileSync(join(root, ".dockerignore"), "utf8").split("\n");
    const allowed = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    expect(lines).toContain("*");
    for (const path of allowed.filter((name) => !name.includes("*"))) expect(existsSync(join(root, path))).toBe(true);
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(?:--\S+ )*(.+) \S+$/gm)].flatMap(([, files = ""]) =>
      files.split(" ").filter((file) => file !== "."),
    );
    expect(copied).toContain("deploy/docker/entrypoint.sh");
    for (const file of copied)
      expect(existsSync(join(root, file)) && allowed.some((path) => file.startsWith(path))).toBe(true);
    // What npm publishes must be there when the image packs it.
    const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { files: string[] };
    const packed = files.filter((name) => name !== "bundle" && !name.endsWith(".md"));
    expect(packed.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  test("ends in a user that is not root, and in tini", () => {
    expect(dockerfile).toContain("\nUSER 1000:1000\n");
    expect(dockerfile).toContain('\nENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/goblin-entrypoint"]\n');
  });
});

/** The variables that the Dockerfile sets. */
function imageEnv(): Record<string, string> {
  const [, block = ""] = /^ENV ((?:.*\\\n)*.*)$/m.exec(dockerfile) ?? [];
  const pairs = block.split(/\s*\\\n\s*/).map((pair) => pair.split("=") as [string, string]);
  expect(Object.fromEntries(pairs)).toMatchObject({ HOME: "/data", GOBLIN_HOST: "0.0.0.0" });
  return Object.fromEntries(pairs);
}

interface Container {
  readonly child: ChildProcess;
  readonly origin: string;
  readonly port: number;
  readonly data: string;
  readonly exited: Promise<number | null>;
}

/** What the image has in /usr/local: the package, the entry point, and a place for Node.js. */
function installed(): string {
  const local = join(folder, "local");
  if (existsSync(local)) return local;
  mkdirSync(local);
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: root, stdio: "pipe" });
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const options = ["--global", "--offline", "--no-audit", "--no-fund", "--prefix", local];
  execFileSync("npm", ["install", ...options, join(folder, `goblin-mcp-${version}.tgz`)], { stdio: "pipe" });
  const entry = join(local, "bin/goblin-entrypoint");
  execFileSync("install", ["-m", "0755", join(root, "deploy/docker/entrypoint.sh"), entry]);
  writeFileSync(join(local, "bin/node"), "", { mode: 0o755 });
  return local;
}

/** The entry point in a container of its own, on a free port of this machine. */
async function run(config?: object): Promise<Container> {
  const local = installed();
  const box = mkdtempSync(join(folder, "box-"));
  const [data, etc] = [join(box, "data"), join(box, "etc")];
  for (const path of [data, etc]) mkdirSync(path);
  if (config) writeFileSync(join(etc, "goblin.json"), JSON.stringify(config));
  execFileSync("chmod", ["-R", "a+rX", folder]);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync("chown", ["-R", "1000:1000", data]);
  const port = await freePort();
  const env = { ...imageEnv(), GOBLIN_PORT: String(port) };
  const args = [
    "--die-with-parent",
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--as-pid-1",
    "--new-session",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--cap-drop",
    "ALL",
    "--clearenv",
    "--ro-bind",
    "/usr",
    "/usr",
    "--symlink",
    "usr/bin",
    "/bin",
    "--symlink",
    "usr/lib",
    "/lib",
    "--symlink",
    "usr/lib64",
    "/lib64",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--ro-bind",
    local,
    "/usr/local",
    "--ro-bind",
    process.execPath,
    "/usr/local/bin/node",
    "--ro-bind",
    etc,
    "/etc/goblin",
    "--bind",
    data,
    "/data",
    "--tmpfs",
    "/tmp",
    "--remount-ro",
    "/",
    "--chdir",
    "/data",
    ...Object.entries({ ...env, PATH: "/usr/local/bin:/usr/bin:/bin" }).flatMap((pair) => ["--setenv", ...pair]),
    "/usr/bin/tini",
    "--",
    "/usr/local/bin/goblin-entrypoint",
    "serve",
  ];
  // As another user outside, too: files of root are then not its own.
  const user = isRoot ? ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"] : [];
  const [command = "", ...words] = [...user, "bwrap", ...args];
  const child = spawn(command, words, { stdio: ["ignore", "pipe", "pipe"] });
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  onDispose(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk));
  await until(() => said.includes("listening on") || child.exitCode !== null, { what: "the container to listen" });
  if (child.exitCode !== null) throw new Error(`it ended: ${said}`);
  return { child, origin: `http://127.0.0.1:${port}`, port, data, exited };
}

/** A server that leaves a process behind, whose parent is then process number 1. */
const orphaning = `
const { spawn } = require("node:child_process");
spawn("sh", ["-c", "sleep 0.1 & exit"], { stdio: "ignore" });
process.argv.splice(1, Infinity, "demo", "clock");
import("/usr/local/lib/node_modules/goblin-mcp/bundle/main.js");
`;

const canRun = [hasTool("bwrap", "--version"), hasTool("tini", "--version")].every(Boolean);

describe.runIf(canRun)("the entry point", () => {
  test("serves without a config, to clients of both eras, and writes to /data alone", async () => {
    const { origin, port, data } = await run();
    for (const { client } of [
      await connectV1({ url: `${origin}/mcp` }),
      await connectV2({ url: `${origin}/mcp`, era: "modern" }),
    ]) {
      await until(async () => (await client.listTools()).tools.some(({ name }) => name === "clock_now"));
      expect((await client.callTool({ name: "clock_now", arguments: {} })).isError).not.toBe(true);
    }
    expect(existsSync(join(data, ".local/state/goblin"))).toBe(true);
    const check = (env: NodeJS.ProcessEnv): number | null => spawnSync(process.execPath, [health], { env }).status;
    expect(check({ GOBLIN_PORT: String(port) })).toBe(0);
    expect(check({ GOBLIN_PORT: String(await freePort()) })).toBe(1);
  });

  test("takes the config of /etc/goblin, reaps what servers leave behind, and ends at SIGTERM", async () => {
    const program = { command: "node", args: ["-e", orphaning] };
    const { child, origin, exited } = await run({ mcpServers: { one: program } });
    const { client } = await connectV1({ url: `${origin}/mcp` });
    await until(async () => (await client.listTools()).tools.some(({ name }) => name === "one_now"));
    const inside = descendants(child.pid!);
    const command = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    const statusOf = (pid: number): string => readFileSync(`/proc/${pid}/status`, "utf8");
    const first = inside.find((pid) => /^NSpid:.*\t1$/m.test(statusOf(pid)))!;
    expect(command(first)).toMatch(/^\/usr\/bin\/tini /);
    const status = statusOf(first);
    expect(/^Uid:\t(\d+)/m.exec(status)?.[1]).toBe(String(process.getuid?.() || 1000));
    expect(/^CapEff:\t(\w+)$/m.exec(status)?.[1]).toBe("0000000000000000");
    const zombies = (): string[] =>
      descendants(first)
        .filter((pid) => /^State:\tZ/m.test(statusOf(pid)))
        .map(String);
    await until(() => !descendants(first).some((pid) => command(pid).startsWith("sleep")));
    expect(zombies()).toEqual([]);

    process.kill(first, "SIGTERM");
    expect(await exited).toBe(0);
    expect(inside.filter(isRunning)).toEqual([]);
  });
});

test("the health check accepts https, whatever the certificate names", async () => {
  const server = createServer({ cert, key }, (request, response) => {
    response.statusCode = request.url === "/health" ? 200 : 404;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onDispose(() => server.close());
  const { port } = server.address() as { port: number };
  const child = spawn(process.execPath, [health], { env: { GOBLIN_PORT: String(port) } });
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
});
