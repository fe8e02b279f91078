/**
 * What a server says cannot control the user's terminal: every command
 * against a server that puts controls of all kinds everywhere it can, judged by the bytes of stdout
 * and stderr.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLogger } from "../../src/observe/telemetry/logger.ts";
import { type CommandHome, commandHome, hasScript } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, startScripted } from "../fixtures/peers.ts";

/**
 * Window title, clear screen in C0 and C1, bell, delete, a colour, and two ways to make text run
 * backwards.
 */
const EVIL = "\u001b]0;owned\u0007\u001b[2J\u009b2J\u0085\u007f\u001b[41m\u202e\u2066\u2028\u200f\u{e0001}";

let home: CommandHome;
let at: string[];

beforeEach(async () => {
  const entry = { name: `n${EVIL}`, title: `t${EVIL}`, description: `d${EVIL}` };
  const uri = "text:///odd";
  const mimeType = `text/plain${EVIL}`;
  const raw = (result: unknown) => ({ do: "result", result });
  const one = await startScripted({
    name: "one",
    script: {
      lists: {
        tools: [
          { ...entry, inputSchema: { type: "object" } },
          ...["text", "image", "structured", "link", "other", "error", "failed", "picky"].map((name) => ({
            name,
            inputSchema: { type: "object", ...(name === "picky" && { required: [`r${EVIL}`] }) },
          })),
        ],
        prompts: [{ ...entry, arguments: [{ name: `a${EVIL}` }] }, { name: "p" }, { name: "broken" }],
        resources: [
          { ...entry, uri: `text:///x${EVIL}`, mimeType },
          { name: "odd", uri, mimeType },
        ],
        resourceTemplates: [{ ...entry, uriTemplate: `item://{id}${EVIL}`, mimeType }],
      },
      rules: [
        { method: "tools/call", name: "text", ...raw({ content: [{ type: "text", text: `x${EVIL}` }] }) },
        {
          method: "tools/call",
          name: "image",
          ...raw({ content: [{ type: "image", data: "AAAA", mimeType: `image/${EVIL}` }] }),
        },
        {
          method: "tools/call",
          name: "structured",
          ...raw({ content: [], structuredContent: { [`k${EVIL}`]: `v${EVIL}` } }),
        },
        {
          method: "tools/call",
          name: "link",
          ...raw({ content: [{ type: "resource_link", uri: `x:${EVIL}`, name: EVIL }] }),
        },
        { method: "tools/call", name: "other", ...raw({ content: [{ type: `odd${EVIL}`, what: EVIL }] }) },
        { method: "tools/call", name: "failed", ...raw({ isError: true, content: [{ type: "text", text: EVIL }] }) },
        { method: "tools/call", name: "error", do: "error", code: -32000, message: `e${EVIL}`, data: { why: EVIL } },
        {
          method: "resources/read",
          ...raw({
            contents: [
              { uri, mimeType, blob: "AAAA" },
              { uri, text: `x${EVIL}` },
            ],
          }),
        },
        {
          method: "prompts/get",
          name: "p",
          ...raw({ messages: [{ role: `user${EVIL}`, content: { type: "text", text: `x${EVIL}` } }] }),
        },
        { method: "prompts/get", name: "broken", do: "error", code: -32000, message: `e${EVIL}` },
      ],
    },
  });
  const bad = await startScripted({
    name: "bad",
    script: { rules: [{ method: "initialize", do: "error", code: -32000, message: `e${EVIL}` }] },
  });
  const running = await startGoblin({ mcpServers: { one: one.entry, bad: bad.entry } });
  home = commandHome();
  at = ["--url", running.origin];
});
afterEach(disposeAll);

const commands: string[][] = [
  ["status"],
  ["tokens"],
  ...["tools", "prompts", "resources", "templates", "servers"].map((kind) => ["list", kind]),
  ...["text", "image", "structured", "link", "other", "error", "failed", "picky"].map((name) => [
    "call",
    `one_${name}`,
  ]),
  ["call", "one_image", "--out", "files"],
  ["call", `one_n${EVIL}`],
  ["call", `nothing${EVIL}`],
  ["call", "one_text", `key${EVIL}`],
  ["read", "one+text:///odd"],
  ["read", `one+nothing:///${EVIL}`],
  ["prompt", "one_p"],
  ["prompt", "one_broken"],
  ["prompt", `one_nothing${EVIL}`],
];

/** Whatever is neither a printable character nor a line break. */
function unsafeIn(text: string): string[] {
  return text.match(/(?!\n)\p{Cc}|[\p{Cs}\p{Zl}\p{Zp}\p{Cf}]/gu) ?? [];
}

/** In a pipe, the text of a tool or a resource is data and stays as it is; nothing else does. */
const isData = ([command, name]: string[]): boolean =>
  command === "read" || command === "prompt" || (command === "call" && /_(text|failed)$/.test(name!));

/** A few at a time: each is a process of its own. */
async function forEachCommand(run: (command: string[]) => Promise<void>): Promise<void> {
  for (let i = 0; i < commands.length; i += 4) await Promise.all(commands.slice(i, i + 4).map(run));
}

test("through pipes", async () => {
  await forEachCommand(async (command) => {
    const [plain, json] = await Promise.all([home.goblin(...command, ...at), home.goblin(...command, "--json", ...at)]);
    expect([command, unsafeIn(plain.err)]).toEqual([command, []]);
    if (!isData(command)) expect([command, unsafeIn(plain.out)]).toEqual([command, []]);
    expect([command, unsafeIn(json.out + json.err)]).toEqual([command, []]);
  });
  const text = await home.goblin("call", "one_text", ...at);
  expect(text.out).toBe(`x${EVIL}\n`);
}, 300_000);

test("as JSON it is the same value", async () => {
  const [structured, read, prompt, tools] = await Promise.all([
    home.goblin("call", "one_structured", "--json", ...at),
    home.goblin("read", "one+text:///odd", "--json", ...at),
    home.goblin("prompt", "one_p", "--json", ...at),
    home.goblin("list", "tools", "--json", ...at),
  ]);
  expect(JSON.parse(structured.out).structuredContent).toEqual({ [`k${EVIL}`]: `v${EVIL}` });
  expect(JSON.parse(read.out).contents[1].text).toBe(`x${EVIL}`);
  expect(JSON.parse(prompt.out).messages[0].role).toBe(`user${EVIL}`);
  expect(JSON.parse(tools.out)).toContainEqual(
    expect.objectContaining({ name: `one_n${EVIL}`, description: `d${EVIL}` }),
  );
});

// What Goblin itself writes: line breaks, one line that is written over, and a few colours, never a
// background.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const own = /\r\n|\r\u001b\[K|\u001b\[(0|1|2|3[1-6]|90)m/g;

test.runIf(hasScript)("on a terminal", async () => {
  await forEachCommand(async (command) => {
    const { shown } = await home.onTerminal([...command, ...at]);
    expect([command, unsafeIn(shown.replace(own, "\n"))]).toEqual([command, []]);
  });
});

test("in the readable log", () => {
  let written = "";
  const stream = {
    isTTY: true,
    write: (text: string) => {
      written += text;
    },
  };
  createLogger({ level: "info", format: "auto", stream }).info({ why: EVIL }, `said ${EVIL}`);
  expect(unsafeIn(written.replace(own, "\n"))).toEqual([]);
});
