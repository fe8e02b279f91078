/** `goblin logs` on gateways that run, restart, or are not there. */
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { commandHome } from "../fixtures/command.ts";
import { disposeAll, startScripted, until } from "../fixtures/peers.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";

afterEach(disposeAll);

test("prints the log: all of it, one server's, by level, since a moment, as JSON", async () => {
  const one = await startScripted({ name: "one", script: { start: { stderr: "one \u001b[31mis up" } } });
  const two = await startScripted({ name: "two", script: { start: { stderr: "two is up" } } });
  const home = await serveHome({ mcpServers: { one: one.entry, two: two.entry }, log: { level: "debug" } });
  const { origin } = await startServe(home);
  const { goblin } = commandHome();
  const at = ["--url", origin];
  const all = await until(async () => {
    const { out } = await goblin("logs", ...at);
    return out.includes("31mis up") && out.includes("two is up") ? out : undefined;
  });
  expect(all).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \w+ +\S/m);
  expect(all).not.toContain("\u001b");
  const { out: ofOne } = await goblin("logs", "one", ...at);
  expect(ofOne).toContain("is up");
  expect(ofOne).not.toContain("two is up");
  const { out: json } = await goblin("logs", "one", "--json", "--since", "1h", ...at);
  const entries = json
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(entries.every(({ server, time }) => server === "one" && !Number.isNaN(Date.parse(time)))).toBe(true);
  expect((await goblin("logs", "-n", "1", ...at)).out.trim().split("\n").length).toBe(1);
  expect((await goblin("logs", "--level", "fatal", ...at)).err).toContain("nothing was logged");
  expect((await goblin("logs", "--since", "2999-01-01", ...at)).err).toContain("nothing was logged");
  expect(await goblin("logs", "onne", ...at)).toMatchObject({ code: 2, err: expect.stringContaining('"one"') });
  expect(await goblin("logs", "--since", "soon", ...at)).toMatchObject({ code: 2 });
});

test("follows the log, over a restart of the gateway, without a line twice", async () => {
  const one = await startScripted({ name: "one", script: { start: { stderr: "the server is up" } } });
  const home = await serveHome({ mcpServers: { one: one.entry }, log: { level: "debug" } });
  const first = await startServe(home);
  const child = commandHome().start(["logs", "one", "-f", "--url", first.origin]);
  const lines: string[] = [];
  createInterface({ input: child.stdout! }).on("line", (line) => lines.push(line));
  const ups = (): number => lines.filter((line) => line.includes("the server is up")).length;
  await until(() => ups() === 1);
  first.signal("SIGKILL");
  await first.exited;
  await startServe(home);
  await until(() => ups() === 2);
  child.kill("SIGINT");
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
  expect(new Set(lines).size).toBe(lines.length);
});

test("says that no gateway runs", async () => {
  const { goblin } = commandHome();
  const url = `http://127.0.0.1:${(await serveHome({})).port}`;
  const { code, err } = await goblin("logs", "--url", url);
  expect(code).toBe(1);
  expect(err).toContain(`no gateway is listening on ${url}`);
});
