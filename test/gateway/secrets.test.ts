/**
 * Secrets that a config only refers to: looked up when a server starts, hidden everywhere, and a
 * reference that fails hurts its own server only.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SecretStore } from "../../src/auth/secrets/secret-store.ts";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

/** Tells its arguments and variables, also on stderr. */
const SERVER = `
  let rest = "";
  console.error("started with " + process.env.SECRET);
  process.stdin.on("data", (chunk) => {
    const lines = (rest += chunk).split("\\n");
    rest = lines.pop();
    for (const line of lines) {
      const { id, method } = JSON.parse(line);
      if (id === undefined) continue;
      const result = method === "initialize" ? { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }
        : method === "tools/list" ? { tools: [{ name: "tell", inputSchema: { type: "object" } }] }
        : { content: [{ type: "text", text: [process.env.SECRET, process.env.MORE, ...process.argv.slice(2)].join("|") }] };
      process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
    }
  });`;

let folder = "";
let program = "";
let env: NodeJS.ProcessEnv = {};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "goblin-secrets-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  program = join(folder, "server.js");
  writeFileSync(program, SERVER);
  mkdirSync(join(folder, "bin"));
  env = {
    ...process.env,
    PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
    XDG_STATE_HOME: join(folder, "state"),
    GOBLIN_KEYCHAIN: "0",
  };
});

const entry = (more: Record<string, unknown>, args: string[] = []) => ({
  command: process.execPath,
  args: [program, ...args],
  ...more,
});
const secret = (reference: string, more: Record<string, unknown> = {}) =>
  entry({ env: { SECRET: reference }, ...more });
const start = (mcpServers: Record<string, unknown>, more: Record<string, unknown> = {}): Promise<RunningGoblin> =>
  startGoblin({ mcpServers, ...more }, { env });
const statusOf = ({ gateway }: RunningGoblin, id: string) => gateway.servers.status(id);
const isState = (goblin: RunningGoblin, id: string, state: string): Promise<unknown> =>
  until(() => statusOf(goblin, id)?.state === state, { what: `${id} to be ${state}` });

async function tell({ url }: RunningGoblin, id: string): Promise<string> {
  const client = rawHttp(url);
  await client.initialize();
  const { message } = await client.call("tools/call", { name: `${id}_tell` });
  return message.result?.content[0].text ?? message.error?.message;
}

/** A script that a reference runs, and how often it ran. */
function script(name: string, body: string): { readonly file: string; runs(): number } {
  const file = join(folder, "bin", name);
  const counter = join(folder, `${name}.runs`);
  writeFileSync(file, `#!/bin/sh\necho run >> '${counter}'\n${body}\n`);
  chmodSync(file, 0o755);
  return { file, runs: () => (existsSync(counter) ? readFileSync(counter, "utf8").split("\n").length - 1 : 0) };
}

test("every source reaches its server, and nobody else sees the values", async () => {
  await (await SecretStore.open(env)).set("API", "from-the-keychain");
  const op = script("op", `[ "$*" = "read --no-newline op://Private/My Item/key" ] && printf from-1password`);
  const command = script("supply", `printf '%s\\n' "from-$1-and-$2"`);
  writeFileSync(join(folder, "key.txt"), "from-the-file\n");
  writeFileSync(join(folder, ".env"), "SECRET=overridden\nMORE=from-the-env-file\n");
  const goblin = await start({
    keychain: secret("${keychain:API}", { envFile: join(folder, ".env") }),
    op: secret("${op://Private/My Item/key}"),
    file: entry({ env: { SECRET: `x-\${file:${join(folder, "key.txt")}}-y` } }, ["--key=${keychain:API}"]),
    cmd: secret('${cmd:supply cmd "two words"}'),
    again: secret('${cmd:supply cmd "two words"}'),
  });
  const told = await Promise.all(["keychain", "op", "file", "cmd", "again"].map((id) => tell(goblin, id)));
  expect(told).toEqual([
    "from-the-keychain|from-the-env-file",
    "from-1password|",
    "x-from-the-file-y||--key=from-the-keychain",
    "from-cmd-and-two words|",
    "from-cmd-and-two words|",
  ]);
  expect([op.runs(), command.runs()]).toEqual([1, 1]);
  // Each server wrote its secret to stderr.
  await until(() => goblin.logs.filter(({ msg }) => msg.startsWith("started with")).length === 5, {
    what: "the lines",
  });
  const rows = await fetch(`${goblin.origin}/api/servers`);
  const details = await Promise.all(
    ["keychain", "file"].map((id) => fetch(`${goblin.origin}/api/servers/${id}`).then((answer) => answer.text())),
  );
  const seen = JSON.stringify(goblin.logs) + (await rows.text()) + details.join("");
  expect(seen).toContain("started with [hidden]");
  for (const value of ["from-the-keychain", "from-1password", "from-the-file", "from-cmd-and", "from-the-env-file"]) {
    expect(seen).not.toContain(value);
  }
});

test("a program that hangs, floods, fails, is missing or says nothing concerns its own server only", async () => {
  script("hang", "exec sleep 600");
  script("flood", "exec head -c 10000000 /dev/zero");
  script("fail", "echo secret-on-stdout; echo secret-on-stderr >&2; exit 3");
  script("mute", "exit 0");
  script("op", "echo '[ERROR] you are not signed in' >&2; exit 1");
  const goblin = await start(
    {
      good: secret("plain-value"),
      hang: secret("${cmd:hang}"),
      flood: secret("${cmd:flood}"),
      fail: secret("${cmd:fail now}"),
      mute: secret("${cmd:mute}"),
      missing: secret("${cmd:no-such-program}"),
      op: secret("${op://a/b/c}"),
    },
    { timeouts: { secretMs: 1500 } },
  );
  // A server that is being tried again says what it waits for, too.
  const reasonOf = (id: string) => statusOf(goblin, id)?.reason?.replace(/; waits for its handshake .*$/, "");
  const reasons = Object.fromEntries(
    ["hang", "flood", "fail", "mute", "missing", "op"].map((id) => [id, reasonOf(id)]),
  );
  expect(reasons).toEqual({
    hang: "env.SECRET: ${cmd:…}: hang did not end within 1500 ms",
    flood: "env.SECRET: ${cmd:…}: flood printed more than 65536 bytes",
    fail: "env.SECRET: ${cmd:…}: fail exited with code 3",
    mute: "env.SECRET: ${cmd:…}: mute printed nothing",
    missing: "env.SECRET: ${cmd:…}: no-such-program cannot be started: it is not on the PATH",
    op: "env.SECRET: ${op://…}: op exited with code 1: [ERROR] you are not signed in",
  });
  await until(() => statusOf(goblin, "fail")?.state === "down");
  expect(await tell(goblin, "good")).toBe("plain-value|");
  expect(JSON.stringify(goblin.logs)).not.toContain("secret-on-");
});

test("a secret that is not set makes its server invalid, says how to set it, and is seen when it is", async () => {
  const goblin = await start({ one: secret("${keychain:my key}"), two: secret("${input:token}") });
  const file = join(process.cwd(), "test.json");
  expect(statusOf(goblin, "one")).toMatchObject({
    state: "invalid",
    reason: `env.SECRET: the secret "my key" is not set: run goblin secret set 'my key'`,
  });
  expect(statusOf(goblin, "two")).toMatchObject({
    state: "invalid",
    reason: `env.SECRET: the input "token" is not set: run goblin secret set input:token@${file}`,
  });
  expect(await tell(goblin, "one")).toContain("run goblin secret set 'my key'");
  const store = await SecretStore.open(env);
  await store.set("my key", "set-at-last");
  await store.set(`input:token@${file}`, "typed-once");
  await Promise.all([isState(goblin, "one", "ready"), isState(goblin, "two", "ready")]);
  expect([await tell(goblin, "one"), await tell(goblin, "two")]).toEqual(["set-at-last|", "typed-once|"]);
});

test("a changed secret takes effect at the next start, and a restart asks programs again", async () => {
  const file = join(folder, "key.txt");
  writeFileSync(file, "first-file");
  const command = script("supply", `cat '${join(folder, "value")}'`);
  writeFileSync(join(folder, "value"), "first-answer");
  writeFileSync(join(folder, ".env"), "MORE=first-variable");
  const goblin = await start({
    file: secret(`\${file:${file}}`, { envFile: join(folder, ".env") }),
    cmd: secret("${cmd:supply}"),
  });
  writeFileSync(file, "second-file");
  writeFileSync(join(folder, "value"), "second-answer");
  writeFileSync(join(folder, ".env"), "MORE=second-variable");
  expect([await tell(goblin, "file"), await tell(goblin, "cmd")]).toEqual([
    "first-file|first-variable",
    "first-answer|",
  ]);
  await Promise.all(["file", "cmd"].map((id) => goblin.gateway.servers.roster.get(id)!.backend.restart()));
  expect([await tell(goblin, "file"), await tell(goblin, "cmd")]).toEqual([
    "second-file|second-variable",
    "second-answer|",
  ]);
  expect(command.runs()).toBe(2);
});

/** A remote server that wants a key in a header, and knows one at a time. */
async function startKeyed(
  era: "legacy" | "modern",
): Promise<{ readonly url: string; key: string; readonly refusals: () => number }> {
  const behind = await startScripted({ transport: "http", era });
  const { hostname, port, pathname } = new URL(behind.url);
  let refusals = 0;
  const keyed = { url: "", key: "", refusals: () => refusals };
  const server = createServer((incoming, outgoing) => {
    if (incoming.headers["x-api-key"] !== keyed.key) {
      refusals++;
      incoming.resume();
      outgoing.writeHead(401).end(`not ${incoming.headers["x-api-key"]}`);
      return;
    }
    const { method, headers } = incoming;
    const passed = request({ hostname, port, path: pathname, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onDispose(() => {
    server.closeAllConnections();
    server.close();
  });
  keyed.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return keyed;
}

test.each(["legacy", "modern"] as const)("a refused key is looked up again, and the call goes on (%s)", async (era) => {
  const keyed = await startKeyed(era);
  const file = join(folder, "key.txt");
  writeFileSync(file, "first-key\n");
  keyed.key = "first-key";
  const remote = { url: keyed.url, headers: { "X-Api-Key": `\${file:${file}}` }, era, auth: { type: "none" } };
  const goblin = await start({ remote });
  const client = rawHttp(goblin.url);
  await client.initialize();
  const call = () => client.call("tools/call", { name: "remote_echo", arguments: { text: "hello" } });
  expect((await call()).message.error).toBeUndefined();
  writeFileSync(file, "second-key\n");
  keyed.key = "second-key";
  expect((await call()).message.error).toBeUndefined();
  expect(keyed.refusals()).toBeGreaterThan(0);
  // Without a new key the refusal stays, without the key.
  keyed.key = "third-key";
  const { message } = await call();
  expect(message.error.message).toContain("refused the credentials (HTTP 401");
  expect(JSON.stringify([message, goblin.logs])).not.toMatch(/first-key|second-key/);
});

test("a value that does not fit its place is refused by name", async () => {
  writeFileSync(join(folder, "two-lines"), "one\ntwo\n");
  writeFileSync(join(folder, "host"), "not a host");
  const lines = `\${file:${join(folder, "two-lines")}}`;
  const goblin = await start({
    header: { url: "http://127.0.0.1:9/mcp", headers: { "X-Key": lines } },
    url: { url: `http://\${file:${join(folder, "host")}}/mcp` },
    program: secret(lines),
  });
  expect(statusOf(goblin, "header")?.reason).toBe(
    "headers.X-Key: the value contains line breaks or other control characters, which no header can carry",
  );
  expect(statusOf(goblin, "url")?.reason).toBe("url: not a valid http:// or https:// URL");
  expect(await tell(goblin, "program")).toBe("one\ntwo|");
});
