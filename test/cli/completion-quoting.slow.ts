/**
 * A server chooses the names that a shell completes. In each shell, with its own line editor, such
 * a name is one word that is handed on as it is; it is never run.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { commandHome, PROGRAM } from "../fixtures/command.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose, startScripted } from "../fixtures/peers.ts";
import { hasTmux, openTerminal } from "../tui/pty.ts";

afterEach(disposeAll);

const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;
const PROMPT = "ready>";

/** How each shell is started without anybody's settings, with completion on. */
const shells = {
  bash: ["bash --norc --noprofile -i", `PS1='${PROMPT}'; eval "$(goblin completion bash)"`],
  zsh: ["zsh -f -i", `PS1='${PROMPT}'; autoload -Uz compinit && compinit -u -D; eval "$(goblin completion zsh)"`],
  fish: ["fish --no-config -i", `function fish_prompt; echo '${PROMPT}'; end; goblin completion fish | source`],
} as const;

const names = [
  "x$(touch pwned)",
  "y`touch pwned`",
  "z;touch pwned",
  "v|touch pwned&",
  "w'\"\\ touch > pwned",
  "u~!*{a,b}",
];

async function hostile(more: string[] = []) {
  const tools = [...names, ...more].map((name) => ({ name, inputSchema: { type: "object" } }));
  const one = await startScripted({ name: "one", script: { lists: { tools } } });
  const running = await startGoblin({ mcpServers: { one: one.entry } });
  return { one, at: ["--url", running.origin] };
}

const present = (["bash", "zsh", "fish"] as const).filter((shell) => hasTmux && has(shell));

test.each(present)("%s hands a name on and does not run it", async (shell) => {
  const { one, at } = await hostile();
  const home = commandHome();
  const program = join(home.folder, "goblin");
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(program, 0o755);
  const before = readdirSync(home.folder);
  const [start, setup] = shells[shell];
  const terminal = openTerminal({ columns: 150, rows: 40 });
  onDispose(() => terminal.close());
  terminal.keys(`cd ${home.folder}; PATH=${home.folder}:$PATH HOME=${home.env["HOME"]} ${start}`, "Enter");
  // The first prompt is the shell's own: what is typed before it may be lost.
  await terminal.until(/[$#%>] *$/m);
  terminal.keys(setup, "Enter");
  await terminal.until(new RegExp(`^${PROMPT}`, "m"));
  for (const name of names) {
    const line = `goblin call ${at.join(" ")} one_${name[0]}`;
    terminal.keys("-l", line);
    await terminal.until((screen) => screen.trimEnd().endsWith(line));
    terminal.keys("Tab");
    // The rest of the name is there, however it is quoted.
    await terminal.until((screen) => screen.trimEnd().split("one_").at(-1)!.length > 6);
    terminal.keys("Enter");
    await one.waitFor(({ message }) => message?.method === "tools/call" && message.params.name === name);
    await terminal.until((screen) => screen.trimEnd().endsWith(PROMPT));
  }
  expect(existsSync(join(home.folder, "pwned"))).toBe(false);
  expect(readdirSync(home.folder)).toEqual(before);
});

test("what is no word is not offered", async () => {
  const { at } = await hostile(["two\nlines", "esc\u001b[2J", "bidi\u202e"]);
  const home = commandHome();
  const { out } = await home.goblin("complete", "--line", `goblin call ${at.join(" ")} one_`);
  expect(out.split("\n").slice(0, -1).sort()).toEqual(names.map((name) => `one_${name}`).sort());
  const escaped = await home.goblin("complete", "--line", `goblin call ${at.join(" ")} one_x\\$\\(touch\\ p`);
  expect(escaped.out).toBe("one_x$(touch pwned)\n");
});

test("an argument that looks like an option is not offered", async () => {
  const properties = { "--config": { enum: ["evil.json"] }, "-o": {}, fine: {} };
  const tools = [{ name: "t", inputSchema: { type: "object", properties } }];
  const one = await startScripted({ name: "one", script: { lists: { tools } } });
  const running = await startGoblin({ mcpServers: { one: one.entry } });
  const { out } = await commandHome().goblin("complete", "--line", `goblin call --url ${running.origin} one_t `);
  expect(out).toBe("fine=\n");
});
