/**
 * The package as a user gets it: packed, installed into an empty folder without a network, run, and
 * compiled against. Needs what `npm run build` writes.
 */
import { execFile, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { variants } from "../fixtures/thorough.ts";
import { hasScript } from "../tui/pty.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "goblin-package-"));
const installed = join(folder, "node_modules/goblin-mcp");
const goblin = join(installed, "bin/goblin.js");
let saidByNpm = "";

beforeAll(async () => {
  // Built before: `prepack` would do so again.
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: root });
  const [tarball = ""] = readdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const args = ["install", "--offline", "--no-audit", "--no-fund", join(folder, tarball)];
  saidByNpm = (await run("npm", args, { cwd: folder })).stderr;
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Every file below a folder, as a path from there. */
function filesIn(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: "utf8" }).filter((file) => statSync(join(path, file)).isFile());
}

describe("what is installed", () => {
  test("is one package below 5 MB, without a word of scripts to run", () => {
    expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["goblin-mcp"]);
    const bytes = filesIn(installed).reduce((sum, file) => sum + statSync(join(installed, file)).size, 0);
    expect(bytes).toBeLessThan(5_000_000);
    expect(saidByNpm).not.toContain("install-scripts");
    const { scripts } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as { scripts: object };
    const atInstall = ["preinstall", "install", "postinstall", "prepare"];
    expect(Object.keys(scripts).filter((name) => atInstall.includes(name))).toEqual([]);
  });

  test("has programs of ASCII alone, which need one byte for each character in memory", () => {
    const programs = filesIn(join(installed, "bundle")).filter((file) => /^[^/]+\.js$/.test(file));
    expect(programs).toContain("goblin.js");
    const others = programs.filter((file) =>
      /[\u0080-\uffff]/.test(readFileSync(join(installed, "bundle", file), "utf8")),
    );
    expect(others).toEqual([]);
  });

  test("has everything that its documents link to, and the licences of what is inside", () => {
    const documents = filesIn(installed).filter((file) => file.endsWith(".md"));
    expect(documents).toContain("README.md");
    const dead = documents.flatMap((file) =>
      [...readFileSync(join(installed, file), "utf8").matchAll(/\]\(([^)#]+)(#[^)]*)?\)/g)]
        .map(([, link = ""]) => link)
        .filter((link) => !/^[a-z]+:/.test(link) && !existsSync(join(installed, dirname(file), link)))
        .map((link) => `${file}: ${link}`),
    );
    expect(dead).toEqual([]);
    const licences = readFileSync(join(installed, "bundle/LICENSES.txt"), "utf8");
    for (const name of ["hono", "zod", "preact", "pino"]) expect(licences).toMatch(new RegExp(`^${name} \\d`, "m"));
  });

  test("has a bill of materials that npm's own knows every part of", async () => {
    interface Bill {
      readonly metadata: { readonly component: { readonly purl: string } };
      readonly components: readonly { readonly purl: string; readonly hashes: readonly unknown[] }[];
    }
    const bill = JSON.parse(readFileSync(join(installed, "bundle/sbom.cdx.json"), "utf8")) as Bill;
    expect(bill.metadata.component.purl).toMatch(/^pkg:npm\/goblin-mcp@\d/);
    const options = { cwd: root, maxBuffer: 64 * 1024 * 1024 };
    const { stdout } = await run("npm", ["sbom", "--sbom-format", "cyclonedx"], options);
    const known = new Map((JSON.parse(stdout) as Bill).components.map(({ purl, hashes }) => [purl, hashes]));
    const wrong = bill.components.filter(
      ({ purl, hashes }) => JSON.stringify(known.get(purl)) !== JSON.stringify(hashes),
    );
    expect(wrong).toEqual([]);
    const names = bill.components.map(({ purl }) => purl.replace(/@[^@]+$/, ""));
    expect(names).toEqual(expect.arrayContaining(["pkg:npm/hono", "pkg:npm/zod", "pkg:npm/preact"]));
    expect(names).not.toContain("pkg:npm/vitest");
  });
});

describe("the command", () => {
  test("shows its help", async () => {
    const { stdout } = await run(join(folder, "node_modules/.bin/goblin"), ["--help"]);
    expect(stdout).toContain("One MCP endpoint in front of all your MCP servers.");
  });

  test("serves the demo, calls a tool of it and shows the dashboard", async () => {
    const env = { ...process.env, HOME: folder, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder };
    const gateway = spawn(process.execPath, [goblin, "serve", "--port", "0"], { cwd: folder, env });
    const ended = new Promise((resolve) => gateway.once("close", resolve));
    try {
      let said = "";
      const url = await new Promise<string>((resolve, reject) => {
        gateway.once("close", () => reject(new Error(`the gateway ended: ${said}`)));
        for (const stream of [gateway.stdout, gateway.stderr])
          stream.on("data", (chunk: Buffer) => {
            said += chunk;
            const found = /listening on (http:\S+)\/mcp/.exec(said)?.[1];
            if (found) resolve(found);
          });
      });
      const { stdout } = await run(process.execPath, [goblin, "call", "clock_now", "--url", url], { cwd: folder, env });
      expect(stdout).toContain('"timeZone": "UTC"');
      if (hasScript) expect(await dashboard(`${process.execPath} ${goblin} tui --url ${url}`, env)).toBe(0);
    } finally {
      gateway.kill();
      await ended;
    }
  });
});

/** Leaves as soon as the lists are there; its exit code. */
function dashboard(command: string, env: NodeJS.ProcessEnv): Promise<number | null> {
  const terminal = { CI: "true", TERM: "xterm-256color", COLUMNS: "80", LINES: "24" };
  const child = spawn("script", ["-qfec", command, "/dev/null"], { cwd: folder, env: { ...env, ...terminal } });
  let output = "";
  let isAsked = false;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
    if (isAsked || !output.includes("3 Tools 11")) return;
    isAsked = true;
    child.stdin.write("q");
  });
  return new Promise((resolve) => child.once("close", resolve));
}

describe("the library", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, example = ""] = /^```ts\n([\s\S]*?)^```/m.exec(readme) ?? [];
  // What an editor must find wrong; each line must have an error of its own.
  const mistakes = `import { createGateway } from "goblin-mcp";
// @ts-expect-error: misspelt
createGateway({ config: { mcpServer: {} } });
// @ts-expect-error: not a number
createGateway({ config: { gateway: { port: "3000" } } });
const gateway = createGateway({ config: {}, log: undefined });
// @ts-expect-error: no such event
gateway.events.on("servers", () => {});
// @ts-expect-error: the inside is not handed out
gateway.catalog;
// @ts-expect-error: a result's content may be missing
(await gateway.callTool("x", {}, { signal: undefined })).content[0];
`;

  const compile = async (module: "nodenext" | "preserve", files: Record<string, string>): Promise<string> => {
    const project = join(folder, `with-${module}`);
    mkdirSync(project);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text);
    const compilerOptions = {
      module,
      moduleResolution: module === "nodenext" ? "nodenext" : "bundler",
      target: "es2023",
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noPropertyAccessFromIndexSignature: true,
      verbatimModuleSyntax: true,
      lib: ["es2023"],
      types: ["node"],
      typeRoots: [join(root, "node_modules/@types")],
    };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    await run(process.execPath, [tsc, "-p", project]).catch(({ stdout }: { stdout: string }) => {
      throw new Error(stdout);
    });
    return project;
  };

  test.each(variants<"nodenext" | "preserve">(["nodenext"], ["preserve"]))(
    "compiles strictly with %s, and the README's example runs",
    async (module) => {
      const project = await compile(module, { "example.ts": example, "mistakes.ts": mistakes });
      const notes = `process.argv[2] = "notes";\nawait import(${JSON.stringify(join(installed, "bundle/main.js"))});\n`;
      writeFileSync(join(project, "notes.js"), notes);
      const { stdout } = await run(process.execPath, ["example.js"], { cwd: project });
      const lines = stdout.trim().split("\n");
      expect(lines[0]).toBe("[ 'notes is ready' ]");
      expect(lines[1]).toMatch(/^false .*[Gg]oblin/);
      expect(lines.at(-2)).toMatch(/^200 http:\/\/127\.0\.0\.1:\d+\/mcp$/);
      expect(lines.at(-1)).toBe("removed [ 'notes' ]");
    },
  );
});
