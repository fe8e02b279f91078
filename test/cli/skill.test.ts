/** `goblin skill`: what it writes is short, and every command in it works. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { skillText } from "../../src/app/cli/skill/skill-text.ts";
import { estimateTokens } from "../../src/lib/text/token-estimate.ts";
import { commandHome, PROGRAM } from "../fixtures/command.ts";
import { disposeAll } from "../fixtures/peers.ts";
import { freePort } from "../fixtures/serve.ts";
import { isThorough } from "../fixtures/thorough.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

test("the skill is short, with a valid front matter, however the command is run", () => {
  for (const goblin of ["goblin", "npx -y goblin-mcp"]) {
    const text = skillText(goblin);
    expect(estimateTokens(text)).toBeLessThanOrEqual(300);
    const [, front = ""] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
    const fields = front.split("\n").map((line) => /^([a-z]+): (\S.*)$/.exec(line)!.slice(1));
    expect(fields.map(([key]) => key)).toEqual(["name", "description"]);
    const { name, description } = Object.fromEntries(fields) as Record<string, string>;
    expect(name).toMatch(/^[a-z0-9-]{1,64}$/);
    expect(description!.length).toBeLessThanOrEqual(1024);
    // Neither is text that YAML would read as something else.
    expect(description).not.toMatch(/: | #|^["'[{&*!|>%@`]/);
  }
});

test("the skill is written, kept, and taken back", async () => {
  const home = commandHome();
  const HOME = home.env["HOME"]!;
  const printed = await home.goblin("skill", "--print");
  const shared = await home.goblin("skill");
  const file = join(HOME, ".agents/skills/goblin/SKILL.md");
  expect(shared.out).toMatch(/SKILL\.md: written, about \d+ tokens\nTo take it back: goblin undo \S+\n$/);
  expect(readFileSync(file, "utf8")).toBe(printed.out);
  expect(statSync(file).mode & 0o777).toBe(0o644);
  expect((await home.goblin("skill")).out).toContain("unchanged");
  expect((await home.goblin("undo")).code).toBe(0);
  expect(existsSync(file)).toBe(false);

  mkdirSync(join(HOME, ".claude"));
  const own = JSON.parse((await home.goblin("skill", "--json")).out) as { file: string };
  expect(own.file).toBe(join(HOME, ".claude/skills/goblin/SKILL.md"));
  await home.goblin("skill", "--dir", "mine");
  expect(existsSync(join(home.folder, "mine/goblin/SKILL.md"))).toBe(true);
});

test.runIf(isThorough)("every command of the skill works", async () => {
  const home = commandHome();
  const bin = join(home.folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "goblin"), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
  chmodSync(join(bin, "goblin"), 0o755);
  home.env["PATH"] = `${bin}:${home.env["PATH"]}`;
  home.env["GOBLIN_PORT"] = String(await freePort());
  home.start(["serve"]);
  await until(async () => (await home.goblin("list", "tools")).out.includes("clock_convert"));
  const { out } = await home.goblin("skill", "--print");
  const commands = [...out.matchAll(/`(goblin [^`]+)`/g)].map(([, command]) => command!);
  expect(commands).toHaveLength(10);
  const shown = commands.map((command) =>
    command
      .replace("<word>", "convert")
      .replace("<server>", "clock")
      .replace("<tool> key=text other:=json", "clock_convert time=2026-09-01T12:00:00Z to:='\"Asia/Tokyo\"'")
      .replace("<tool>", "clock_convert"),
  );
  // A registry is not asked in tests; resources and prompts have names of their own.
  for (const command of shown.filter((one) => !/search|<uri>|<name>/.test(one))) {
    const answer = execFileSync("sh", ["-c", command], { cwd: home.folder, env: home.env, encoding: "utf8" });
    expect(answer, command).toMatch(/clock|Tokyo|URI|PROMPT|:\/\//i);
  }
  for (const command of ["search --help", "read --help", "prompt --help"])
    expect((await home.goblin(...command.split(" "))).code).toBe(0);
});
