/** `goblin secret`: named secrets, set without ever showing them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { commandHome, hasScript } from "../fixtures/command.ts";
import { disposeAll } from "../fixtures/peers.ts";

afterEach(disposeAll);

const VALUE = "s3cret-välue-of-ada";
const env = { GOBLIN_KEYCHAIN: "0" };

test("a secret comes from stdin, is listed by name, kept encrypted, and removed", async () => {
  const home = commandHome();
  const state = join(home.env["HOME"]!, ".local/state/goblin");
  const file = join(state, "secrets");
  const set = await home.goblinWith({ env, input: `${VALUE}\n` }, "secret", "set", "GITHUB");
  expect(set).toEqual({
    code: 0,
    out: "",
    err: `Set "GITHUB" in the encrypted file ${file}. A server gets it at its next start.\n`,
  });
  await home.goblinWith({ env, input: "another-value" }, "secret", "set", "a name: with spaces");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const name of readdirSync(state)) expect(readFileSync(join(state, name)).includes("s3cret")).toBe(false);

  const listed = await home.goblinWith({ env }, "secret", "list");
  expect(listed.out).toBe("NAME                 STORE\nGITHUB               file\na name: with spaces  file\n");
  expect(listed.err).toBe(`New secrets go to the encrypted file ${file}.\n`);
  const json = await home.goblinWith({ env }, "secret", "list", "--json");
  expect(JSON.parse(json.out)).toEqual({
    store: "file",
    place: `the encrypted file ${file}`,
    secrets: [
      { name: "GITHUB", store: "file" },
      { name: "a name: with spaces", store: "file" },
    ],
  });
  expect(listed.out + json.out).not.toContain("s3cret");

  expect((await home.goblinWith({ env }, "secret", "rm", "GITHUB", "unknown")).code).toBe(1);
  expect((await home.goblinWith({ env }, "secret", "rm", "a name: with spaces")).code).toBe(0);
  expect((await home.goblinWith({ env }, "secret", "list")).err).toMatch(/^No secret is set\. /);
});

test("a value on the command line, no value, and a bad name are refused", async () => {
  const home = commandHome();
  const run = (input: string, ...args: string[]) => home.goblinWith({ env, input }, "secret", "set", ...args);
  const typed = await run("", "GITHUB", VALUE);
  expect(typed).toMatchObject({ code: 2, err: expect.stringContaining("a value on the command line can be seen") });
  expect(typed.err).not.toContain(VALUE);
  expect(await run("\n", "GITHUB")).toMatchObject({ code: 2, err: expect.stringContaining("no value was given") });
  expect(await run(VALUE, "a}b")).toMatchObject({ code: 2, err: expect.stringContaining("must not contain braces") });
  expect(await run("x".repeat(300_000), "GITHUB")).toMatchObject({ code: 2 });
  expect((await home.goblinWith({ env }, "secret", "list", "--json")).out).toContain('"secrets": []');
});

test.skipIf(!hasScript)("on a terminal the value is asked for and not shown", async () => {
  const home = commandHome();
  const typing = [["(not shown): ", `wrong\x15${VALUE}x\x7f\r`]] as const;
  const { code, shown } = await home.onTerminal(["secret", "set", "GITHUB"], { env, typing });
  expect([code, shown]).toEqual([0, expect.stringContaining('Set "GITHUB"')]);
  expect(shown).not.toContain("s3cret");
  expect(shown).not.toContain("wrong");
  const empty = await home.onTerminal(["secret", "set", "OTHER"], { env, typing: [["(not shown): ", "\x04"]] });
  expect(empty.code).toBe(2);
  const listed = await home.goblinWith({ env }, "secret", "list", "--json");
  expect(JSON.parse(listed.out).secrets).toEqual([{ name: "GITHUB", store: "file" }]);
});
