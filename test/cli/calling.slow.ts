/** `goblin call`: its help for a tool, where arguments come from, and one part of a result. */
import { afterEach, expect, test } from "vitest";
import { commandHome } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);

test("shows what a tool takes and returns, and how the command is used", async () => {
  const { goblin } = commandHome();
  const { origin } = await startGoblin({ mcpServers: { one: (await startScripted({ name: "one" })).entry } });
  const { code, out } = await goblin("call", "one_add", "--help", "--url", origin);
  expect(code).toBe(0);
  expect(out).toContain("Usage: goblin call one_add a=<number> b=<number>");
  expect(out).toContain("Adds two numbers");
  expect(out).toMatch(/^ {2}a +number, required$/m);
  expect(out).toMatch(/Result \(for --pick\):\n {2}sum +number, required/);
  const { out: json } = await goblin("call", "one_add", "--help", "--json", "--url", origin);
  expect(JSON.parse(json)).toMatchObject({ name: "one_add", inputSchema: { required: ["a", "b"] } });
  expect((await goblin("call", "--help")).out).toContain("--pick <path>");
  expect(await goblin("call")).toMatchObject({ code: 2, err: expect.stringContaining("'tool'") });
  expect(await goblin("call", "one_ad", "--help", "--url", origin)).toMatchObject({ code: 2 });
});

test("takes arguments as JSON, from files and from stdin, and prints one part", async () => {
  const { goblin, goblinWith, write } = commandHome();
  const { origin } = await startGoblin({ mcpServers: { one: (await startScripted({ name: "one" })).entry } });
  const at = ["--url", origin];
  write("note.txt", "from a file\n");
  const echo = ["call", "one_echo", ...at];
  expect((await goblin(...echo, "text=@note.txt", "--pick", "text")).out).toBe("from a file\n");
  const input = "from stdin";
  expect((await goblinWith({ input }, ...echo, "text=@-", "--pick", "text")).out).toBe("from stdin\n");
  const given = await goblin(...echo, 'value:={"a":[1,"x"]}', "--pick", "value.a[1]");
  expect(given.out).toBe("x\n");
  expect((await goblin(...echo, 'text:="@ada"', "--pick", "text", "--json")).out).toBe('"@ada"\n');
  expect((await goblin("call", "one_add", "a=1", "b:=2", "--pick", "sum", ...at)).out).toBe("3\n");
  expect(await goblin(...echo, "text=@none.txt")).toMatchObject({
    code: 2,
    err: expect.stringContaining("no such file"),
  });
  expect(await goblin(...echo, "value:={")).toMatchObject({
    code: 2,
    err: expect.stringContaining("value:= is not JSON"),
  });
  expect(await goblin(...echo, "text=@-", "value=@-")).toMatchObject({ code: 2 });
  const missing = await goblin(...echo, "text=hi", "--pick", "other");
  expect(missing).toMatchObject({ code: 2, out: "", err: expect.stringContaining("it has text") });
});

test("a client's token, which does not open the API, calls what it sees, and is told what it does not", async () => {
  const { goblin } = commandHome();
  const clients = { ada: { token: "token-of-ada-0123456789" } };
  const config = { mcpServers: { one: (await startScripted({ name: "one" })).entry }, gateway: { auth: { clients } } };
  const { origin } = await startGoblin({ ...config, metaTools: { enabled: [] } });
  const at = ["--url", origin, "--token", clients.ada.token];
  expect((await goblin("call", "one_add", "a=1", "b=2", "--pick", "sum", ...at)).out).toBe("3\n");
  expect(await goblin("call", "one_ad", ...at)).toMatchObject({ code: 2, err: expect.stringContaining("one_add") });
  const searched = await startGoblin({ ...config, tools: { expose: "search" } });
  const there = ["--url", searched.origin, "--token", clients.ada.token];
  expect((await goblin("call", "one_add", "a:=1", "b:=2", "--pick", "sum", ...there)).out).toBe("3\n");
});
