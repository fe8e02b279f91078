/**
 * What a person at a terminal sees of a call: progress, log, questions, colours; and what is left
 * of that in a pipe. The lab of the demo is the server.
 */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type CommandHome, commandHome, hasScript } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";

const demo = (id: string) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL("../../dist/app/demo/main.js", import.meta.url)), id],
});
const RED = "\u001b[31m";
const GREEN = "\u001b[32m";

// The commands share a gateway; each test has a home of its own.
let at: string[];
let home: CommandHome;
beforeAll(async () => {
  const mcpServers = { lab: demo("lab"), clock: demo("clock"), gone: { command: "/does/not/exist" } };
  at = ["--url", (await startGoblin({ mcpServers })).origin];
});
beforeEach(() => {
  home = commandHome();
});
afterAll(disposeAll);

const ERASE = "\r\u001b[K";

/** The lines after everything was written: what stands before an erasure is gone. */
function screen(shown: string): string[] {
  return shown.split("\r\n").map((line) => line.split(ERASE).at(-1)!);
}

describe.runIf(hasScript)("on a terminal", () => {
  test("progress is shown on one line, which is gone at the end", async () => {
    const args = ["call", "lab_countdown", "from=3", "delayMs=50", ...at];
    const { shown } = await home.onTerminal(args);
    for (const step of ["0/3 3…", "1/3 2…", "2/3 1…"]) expect(shown).toContain(`\r\u001b[K${step}`);
    expect(screen(shown)).toEqual(["Counted down from 3", ""]);
  });

  test("questions are asked, and the answers reach the server", async () => {
    const { code, shown } = await home.onTerminal(["call", "lab_greet", ...at], { typing: [["<string>: ", "Ada\r"]] });
    expect(shown).toContain("lab_greet asks: What is your name?");
    expect(shown).toContain("Name (What goblins may call you) <string>: ");
    expect(screen(shown).slice(-2)).toEqual(["Hello, Ada.", ""]);
    expect(code).toBe(0);
    const left = await home.onTerminal(["call", "lab_greet", ...at], { typing: [["<string>: ", "\u0004"]] });
    expect(screen(left.shown).slice(-2)).toEqual(["Hello, stranger.", ""]);
  });

  test("each kind of field is asked for until the answer fits", async () => {
    const one = await startScripted({ name: "one" });
    const running = await startGoblin({ mcpServers: { one: one.entry } });
    const requestedSchema = {
      type: "object",
      properties: {
        age: { type: "integer" },
        sure: { type: "boolean" },
        size: { type: "string", enum: ["small", "large"] },
        colour: {
          type: "string",
          oneOf: [
            { const: "#f00", title: "Red" },
            { const: "#0f0", title: "Green" },
          ],
        },
        tags: { type: "array", items: { type: "string", enum: ["a", "b", "c"] } },
        note: { type: "string" },
        city: { type: "string", default: "Bern" },
      },
      required: ["age", "sure", "size", "colour", "tags"],
    };
    const params = JSON.stringify({ message: "Fill in\u001b[2J", requestedSchema });
    const { shown } = await home.onTerminal(
      ["call", "one_ask", "kind=elicitation", `params=${params}`, "--json", "--url", running.origin],
      {
        typing: [
          ["age <integer>: ", "many\r"],
          ["age <integer>: ", "41\r"],
          ["sure <y/n>: ", "y\r"],
          ["size <small | large>: ", "huge\r"],
          ["size <small | large>: ", "large\r"],
          ["colour <Red | Green>: ", "green\r"],
          ["tags <a | b | c>: ", "a, c\r"],
          ["note <string, optional>: ", "\r"],
          ['city <string, "Bern">: ', "\r"],
        ],
      },
    );
    expect(shown).toContain("one_ask asks: Fill in␛[2J");
    const answered = (await one.log()).find(({ dir, message }) => dir === "in" && message?.result?.action);
    expect(answered?.message.result).toEqual({
      action: "accept",
      content: { age: 41, sure: true, size: "large", colour: "#0f0", tags: ["a", "c"], city: "Bern" },
    });
  });

  test("states and errors have colours, unless NO_COLOR asks for none", async () => {
    const { shown } = await home.onTerminal(["list", "servers", ...at]);
    expect(shown).toMatch(new RegExp(`lab +${GREEN.replace("[", "\\[")}ready`));
    expect(shown).toContain(`${RED}down`);
    const failed = await home.onTerminal(["call", "lab_gret", ...at]);
    expect(failed.shown).toContain(`${RED}goblin: there is no tool "lab_gret"`);
    const plain = await home.onTerminal(["status", ...at], { env: { NO_COLOR: "1" } });
    expect(plain.shown).not.toContain("\u001b[3");
  });

  test("serve logs in colour, unless NO_COLOR asks for none", async () => {
    const config = home.write("c.json", { mcpServers: { gone: { command: "/does/not/exist" } }, gateway: { port: 0 } });
    const typing = [["gone", "\u0003"]] as const;
    const args = ["serve", "--config", config];
    expect((await home.onTerminal(args, { typing })).shown).toContain("\u001b[");
    expect((await home.onTerminal(args, { typing, env: { NO_COLOR: "1" } })).shown).not.toContain("\u001b[");
  });

  test("the servers that are waited for are named", async () => {
    const slow = await startScripted({ name: "slow", script: { start: { delayMs: 1500 } } });
    const config = home.write("c.json", { mcpServers: { slow: slow.entry, lab: demo("lab") } });
    const { shown, code } = await home.onTerminal(["list", "tools", "--config", config]);
    expect(shown).toMatch(/waiting for slow\b/);
    expect(code).toBe(0);
    expect(screen(shown)[0]).toContain("TOOL");
    const call = await home.onTerminal(["call", "lab_countdown", "from=1", "delayMs=900", ...at]);
    expect(screen(call.shown)).toEqual(["Counted down from 1", ""]);
  });
});

describe("in a pipe", () => {
  test("a question is not asked, and that is said", async () => {
    expect(await home.goblin("call", "lab_greet", ...at)).toEqual({
      code: 0,
      out: "Hello, stranger.\n",
      err: 'lab_greet asks "What is your name?"; there is no terminal to answer on, so the question is cancelled\n',
    });
  });

  test("the log of a server is on stderr, progress is not", async () => {
    expect(await home.goblin("call", "lab_log", "message=hi", "level=warning", ...at)).toEqual({
      code: 0,
      out: "Logged 1 × warning\n",
      err: expect.stringMatching(/^warning.*"message":"hi".*\n$/),
    });
    expect((await home.goblin("call", "lab_log", "message=hi", "--json", ...at)).err).toBe("");
    const counted = await home.goblin("call", "lab_countdown", "from=2", "delayMs=10", ...at);
    expect(counted).toEqual({ code: 0, out: "Counted down from 2\n", err: "" });
  });

  test("nothing is saved unless a folder is given", async () => {
    const portrait = await home.goblin("call", "lab_portrait", ...at);
    expect(portrait).toMatchObject({ code: 0, out: "A goblin:\n" });
    expect(portrait.err).toMatch(/^image\/png, \d+ bytes: not saved; give a folder with --out\n$/);
    expect(readdirSync(home.folder)).toEqual([]);
    await home.goblin("call", "lab_portrait", "-o", "pictures", ...at);
    expect(readdirSync(`${home.folder}/pictures`)).toEqual(["lab_portrait-1.png"]);
  });

  test("a result is shown once", async () => {
    const one = await startScripted({ name: "one" });
    const { origin } = await startGoblin({ mcpServers: { one: one.entry } });
    const call = async (result: object, ...more: string[]) =>
      (await home.goblin("call", "one_raw", `result=${JSON.stringify(result)}`, ...more, "--url", origin)).out;
    const content = [{ type: "text", text: "[DIR] .git" }];
    const structuredContent = { content: "[DIR] .git" };
    expect(await call({ content, structuredContent })).toBe("[DIR] .git\n");
    expect(await call({ content: [], structuredContent })).toBe('{\n  "content": "[DIR] .git"\n}\n');
    const same = [{ type: "text", text: JSON.stringify(structuredContent) }];
    expect(await call({ content: same, structuredContent })).toBe('{\n  "content": "[DIR] .git"\n}\n');
    expect(JSON.parse(await call({ content, structuredContent }, "--json"))).toMatchObject({
      content,
      structuredContent,
    });
  });

  test("there are no colours", async () => {
    const { out } = await home.goblin("status", ...at);
    expect(out).toMatch(/^lab +ready +stdio/m);
    expect((await home.goblin("call", "lab_gret", ...at)).err).toMatch(/^goblin: there is no tool/);
  });
});

test.runIf(hasScript).each([[["list", "servers"]], [["call", "gone_x"]]])("%s has no colours", async (args) => {
  const { origin } = await startGoblin({ mcpServers: { gone: { command: "/does/not/exist" } } });
  const home = commandHome();
  const on = (env: Record<string, string>) => home.onTerminal([...args, "--url", origin], { env });
  expect((await on({})).shown).toContain("\u001b[3");
  expect((await on({ NO_COLOR: "1" })).shown).not.toContain("\u001b[3");
});
