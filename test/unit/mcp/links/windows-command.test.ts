import { describe, expect, test } from "vitest";
import { taskkillArgs } from "../../../../src/mcp/links/process-groups.ts";
import { windowsCommand } from "../../../../src/mcp/links/programs/windows-command.ts";

const env = {
  Path: 'C:\\Windows;"C:\\Program Files\\nodejs"',
  PATHEXT: ".COM;.EXE;.BAT;.CMD",
  ComSpec: "C:\\Windows\\System32\\cmd.exe",
};
const files = new Set([
  "C:\\Program Files\\nodejs\\npx",
  "C:\\Program Files\\nodejs\\npx.cmd",
  "C:\\Program Files\\nodejs\\node.exe",
  "C:\\work\\node_modules\\.bin\\tool.cmd",
]);
const command = (name: string, ...args: string[]) =>
  windowsCommand({ command: name, args, env, cwd: "C:\\work", isFile: (path) => files.has(path) });

describe("on Windows", () => {
  test("npx is npx.cmd, and cmd.exe runs it", () => {
    expect(command("npx", "-y", "foo")).toEqual({
      file: "C:\\Windows\\System32\\cmd.exe",
      args: ["/d", "/s", "/c", '"C:\\Program^ Files\\nodejs\\npx.cmd ^"-y^" ^"foo^""'],
      verbatim: true,
    });
  });

  test("no argument can become a second command or end its quotes", () => {
    expect(command("npx", 'a" & calc & "', "100%PATH%", "C:\\dir\\").args[3]).toBe(
      '"C:\\Program^ Files\\nodejs\\npx.cmd ^"a\\^"^ ^&^ calc^ ^&^ \\^"^" ^"100^%PATH^%^" ^"C:\\dir\\\\^""',
    );
  });

  test("a shim of npm has its arguments parsed twice", () => {
    expect(command("node_modules/.bin/tool", "a&b").args[3]).toBe(
      '"C:\\work\\node_modules\\.bin\\tool.cmd ^^^"a^^^&b^^^""',
    );
  });

  test("a program is started without a shell", () => {
    expect(command("node", "a b")).toEqual({
      file: "C:\\Program Files\\nodejs\\node.exe",
      args: ["a b"],
      verbatim: false,
    });
    expect(command("npx.cmd").verbatim).toBe(true);
  });

  test("what is not there is left to fail under its own name", () => {
    expect(command("nothing", "x")).toEqual({ file: "nothing", args: ["x"], verbatim: false });
  });

  test("a program is ended with all that it started", () => {
    expect(taskkillArgs([12, 34])).toEqual(["/pid", "12", "/pid", "34", "/T", "/F"]);
  });
});
