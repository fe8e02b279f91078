import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { LastWords, tellingWords } from "../../../../src/mcp/links/programs/last-words.ts";
import { brokenNpxFolder, npxRemedy } from "../../../../src/mcp/links/programs/npx-folder.ts";

const home = mkdtempSync(join(tmpdir(), "goblin-npx-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("the line that tells why a program ended", () => {
  const cases: [what: string, stderr: string, words: string | undefined][] = [
    ["one line", "GITHUB_PERSONAL_ACCESS_TOKEN is required", "GITHUB_PERSONAL_ACCESS_TOKEN is required"],
    ["nothing", "\n\n", undefined],
    ["a banner before it", "Server v1.2 starting\nAPI_KEY is missing", "API_KEY is missing"],
    ["no error at all", "starting\nbye", "bye"],
    [
      "a crash of Node",
      `file:///x/index.js:3\n    throw new Error("NO_KEY");\n    ^\n\nError: NO_KEY\n    at main (file:///x/index.js:3:11) {\n  code: 'E'\n}\n\nNode.js v22.1.0`,
      "Error: NO_KEY",
    ],
    [
      "a traceback of Python",
      "Traceback (most recent call last):\n  File \"/x.py\", line 1, in <module>\n    import foo\nModuleNotFoundError: No module named 'foo'",
      "ModuleNotFoundError: No module named 'foo'",
    ],
    [
      "a package that npm does not know",
      "npm error code E404\nnpm error 404 Not Found - GET https://r.example/nope - Not found\nnpm error 404\nnpm error 404  'nope@*' is not in this registry.\nnpm error 404\nnpm error 404 Note that you can also install from a\nnpm error 404 tarball, folder, http url, or git folder.\nnpm error A complete log of this run can be found in: /x.log",
      "Not Found - GET https://r.example/nope - Not found 'nope@*' is not in this registry.",
    ],
    [
      "a package that uv does not know",
      "  × No solution found when resolving tool dependencies:\n  ╰─▶ Because nope was not found in the package registry, it is\n      unsatisfiable.",
      "╰─▶ Because nope was not found in the package registry, it is unsatisfiable.",
    ],
  ];
  test.each(cases)("%s", (_, stderr, words) => {
    expect(tellingWords(stderr.split("\n"))).toBe(words);
  });

  test("is short, on one line, and without secrets", () => {
    const words = new LastWords((text) => text.replaceAll("s3cret-key", "[hidden]"));
    words.add(`Error: bad key s3cret-key \u001b[2J${"x".repeat(2000)}`);
    expect(words.reason).toMatch(/^Error: bad key \[hidden\] \ufffd\[2Jx+… \(\d+ characters\)$/);
    expect(words.reason!.length).toBeLessThan(350);
  });
});

describe("an npx folder that was left half written", () => {
  const folder = join(home, ".npm", "_npx", "a3241bba59c344f5");
  mkdirSync(folder, { recursive: true });

  test.each([
    `Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from ${folder}/node_modules/x/index.js`,
    `npm error ENOTEMPTY: directory not empty, rename '${folder}/node_modules/accepts' -> '${folder}/node_modules/.accepts-x'`,
    `Error: Cannot find module '${folder}/node_modules/x/dist/index.js'`,
  ])("is named with its remedy: %s", (line) => {
    const words = new LastWords((text) => text);
    words.add(line);
    expect(words.reason).toBe(
      `its npx folder is incomplete, probably from an interrupted install; remove it: rm -rf ${folder}`,
    );
  });

  test.each([
    "Cannot find module '/; rm -rf ~ #/_npx/a3241bba59c344f5'",
    `Cannot find module '${home}/.npm/../.npm/_npx/a3241bba59c344f5/x'`,
    "Cannot find module '/nowhere/_npx/a3241bba59c344f5/x'",
    `all is well in ${folder}/x`,
  ])("is not what any program says: %s", (line) => {
    expect(brokenNpxFolder([line])).toBeUndefined();
  });

  test("has a command that can be pasted", () => {
    expect(npxRemedy("/home/a b/.npm/_npx/a3241bba59c344f5", "linux")).toContain(
      "rm -rf '/home/a b/.npm/_npx/a3241bba59c344f5'",
    );
    expect(npxRemedy("C:\\a b\\_npx\\a3241bba59c344f5", "win32")).toContain('rmdir /s /q "C:\\a b\\_npx\\');
  });
});
