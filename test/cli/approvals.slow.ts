/** `goblin approvals` at a running gateway that is killed, as docs/approvals.md shows it. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { askAdd, operator, runsOf } from "../fixtures/approvals.ts";
import { commandHome } from "../fixtures/command.ts";
import { connectV1, connectV2, disposeAll, startScripted, until } from "../fixtures/peers.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";

afterEach(disposeAll);

const add = { name: "web_add", arguments: { a: 1, b: 2 } };
const failed = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "it ran",
    (error: Error) => error.message,
  );
const documented = readFileSync(new URL("../../docs/approvals.md", import.meta.url), "utf8");

test("a person lists, shows, allows, denies and revokes; what was granted outlives the gateway, what was held does not", async () => {
  const web = await startScripted({ name: "web", transport: "http" });
  const home = await serveHome({ mcpServers: { web: web.entry }, policy: { rules: [askAdd] } });
  const first = await startServe(home);
  const ops = operator(first.origin);
  const { client } = await connectV1({ url: first.url, name: "nightly" });
  const shell = commandHome();
  const run = (...args: string[]) => shell.goblin("approvals", ...args, "--url", first.origin);

  expect((await run()).out).toBe("Nothing waits for approval.\n");
  const call = client.callTool(add);
  const [row] = await ops.held();
  const id = row!.id;
  const listed = (await run()).out;
  // As the document shows it: the same columns.
  const columns = /^ID .*$/m.exec(documented)![0].split(/ +/);
  expect(listed.split("\n")[0]!.split(/ +/)).toEqual(columns);
  expect(listed).toMatch(/\(nightly\) +web_add +\{"a":1,"b":2\}\n$/);
  const shown = (await run("show", id)).out;
  expect(shown).toContain("tool       add of web, listed as web_add\n");
  expect(shown).toContain("rule       adds: sums are sensitive\n");
  expect(shown).toContain(`digest     ${row!.digest}\n`);
  expect(shown).toContain('arguments  {"a":1,"b":2}\n');
  const wrong = await run("allow", id, "--expect", "sha256:0");
  expect([wrong.code, wrong.err]).toEqual([
    1,
    expect.stringContaining("The arguments are not the ones that you have seen"),
  ]);
  expect(JSON.parse((await run("allow", id, "--for", "hour", "--json")).out)).toMatchObject({ grant: { for: "hour" } });
  expect(await call).toMatchObject({ content: [{ text: "3" }] });
  expect((await run("allow", id)).err).toContain("This was answered already");
  expect((await run("deny", "nothing")).err).toContain("There is no such approval");

  // Killed while a call is held: the call fails, and never runs.
  const other = failed(client.callTool({ name: "web_add", arguments: { a: 5, b: 5 } }));
  const { client: modern } = await connectV2({ url: first.url, era: "modern", name: "daily" });
  const third = failed(modern.callTool({ name: "web_add", arguments: { a: 6, b: 6 } }));
  const [waiting, also] = await ops.held(2);
  const folder = join(home.folder, "state", "goblin");
  const file = join(folder, readdirSync(folder).find((name) => name.startsWith("approvals-"))!);
  await until(() => [waiting, also].every((one) => readFileSync(file, "utf8").includes(one!.id)));
  first.child.kill("SIGKILL");
  await first.exited;
  const second = await startServe(home);
  const rows = await ops.list();
  expect(rows.find((one) => one.id === waiting!.id)).toMatchObject({ state: "ended", ended: "restart" });
  expect(rows.find((one) => one.id === also!.id)).toMatchObject({ state: "ended", ended: "restart" });
  expect(await third).not.toBe("it ran");
  expect(rows.find((one) => one.id === id)).toMatchObject({ state: "allowed", by: "operator", runs: 1, outcome: "ok" });
  expect((await run("allow", waiting!.id)).err).toContain("This came too late");
  const { client: again } = await connectV1({ url: second.url, name: "nightly" });
  expect(await again.callTool(add)).toMatchObject({ content: [{ text: "3" }] });
  expect((await runsOf(web)).map(({ arguments: args }) => args)).toEqual([add.arguments, add.arguments]);
  const [, grant] = (await run("grants")).out.split("\n");
  expect((await run("revoke", grant!.split(" ")[0]!)).out).toContain("is not allowed any longer");
  const asked = failed(again.callTool(add));
  const [last] = await ops.held();
  expect((await run("deny", last!.id, "--reason", "not on a Friday")).out).toContain("Denied web_add");
  expect(await asked).toContain("a person denied it (not on a Friday)");
  await client.close();
  await other;

  // The record is private, and whole until somebody edits it.
  second.signal("SIGTERM");
  await second.exited;
  if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, "utf8");
  const events = text
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { event: string }).event);
  expect(events.slice(0, 5)).toEqual(["proposed", "refused", "approved", "executed", "returned"]);
  const env = { XDG_STATE_HOME: join(home.folder, "state") };
  const whole = await shell.goblinWith({ env }, "approvals", "verify");
  expect([whole.code, whole.out]).toEqual([0, expect.stringMatching(/: whole, \d+ lines, last hash [0-9a-f]{64}\n$/)]);
  writeFileSync(file, text.replace('"why":"changed"', '"why":"unknown"'));
  const broken = await shell.goblin("approvals", "verify", file);
  expect([broken.code, broken.out]).toEqual([1, expect.stringContaining("broken at line 2: its content does not fit")]);
});
