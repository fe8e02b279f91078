/** Subscriptions and completion of what a person must be asked about (A-M4). */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { operator } from "../../fixtures/approvals.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, onDispose, rawHttp } from "../../fixtures/peers.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

const PROGRAM = fileURLToPath(new URL("../../fixtures/file-server.js", import.meta.url));

async function start() {
  const folder = mkdtempSync(join(tmpdir(), "asked-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, "log");
  const files = { command: process.execPath, args: [PROGRAM, "node", log] };
  const asked = ["file:///secret/*", "file:///{+path}"];
  const goblin = await startGoblin({
    mcpServers: { files },
    policy: { rules: [{ effect: "ask", server: "files", resources: asked, prompts: ["summarize"] }] },
  });
  const got = () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : []);
  return { ...goblin, got, ops: operator(goblin.origin) };
}

const SECRET = "files+file:///secret/a.txt";
const OPEN = "files+file:///open/a.txt";
const completing = (ref: Record<string, string>) => ({ ref, argument: { name: "path", value: "" } });

test("a subscription to a resource that must be asked about is refused, and its server gets nothing", async () => {
  const { url, got } = await start();
  const http = rawHttp(url);
  await http.initialize();
  expect((await http.call("resources/subscribe", { uri: SECRET })).message.error).toMatchObject({
    code: -32014,
    message:
      `Not approved: ${SECRET} needs a person's approval, and subscriptions cannot wait for one. ` +
      "The server did not get the request. Use it without that: then a person is asked.",
    data: { why: "asked", retry: false },
  });
  expect(got()).toEqual([]);
  expect((await http.call("resources/subscribe", { uri: OPEN })).message.result).toEqual({});
  expect(got()).toEqual(["resources/subscribe /open/a.txt"]);
});

test("a listen stream honours no resource that must be asked about, and its server gets nothing", async () => {
  const { url, got } = await start();
  const stream = await stateless(url).stream("subscriptions/listen", {
    notifications: { resourceSubscriptions: [SECRET, OPEN] },
  });
  const { params } = await stream.next((m) => m.method === "notifications/subscriptions/acknowledged");
  expect(params.notifications.resourceSubscriptions).toEqual([OPEN]);
  expect(got()).toEqual(["resources/subscribe /open/a.txt"]);
});

test("completion for a prompt, template or resource that must be asked about is refused", async () => {
  const { url, got, ops } = await start();
  const http = rawHttp(url);
  await http.initialize();
  for (const ref of [
    { type: "ref/prompt", name: "files_summarize" },
    { type: "ref/resource", uri: "files+file:///{+path}" },
    { type: "ref/resource", uri: SECRET },
  ]) {
    const { message } = await http.call("completion/complete", completing(ref));
    expect(message.error).toMatchObject({ code: -32014, message: expect.stringContaining("completion cannot wait") });
  }
  expect(got()).toEqual([]);
  expect(await ops.list()).toEqual([]);
  const { message } = await http.call("completion/complete", completing({ type: "ref/resource", uri: OPEN }));
  expect(message.result.completion.values).toEqual(["a.txt"]);
});
