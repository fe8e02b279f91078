/** VS Code's inputs on a terminal, and what a config that nobody trusts may look up: nothing. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type CommandHome, commandHome, hasScript } from "../fixtures/command.ts";
import { disposeAll, onDispose, until } from "../fixtures/peers.ts";

afterEach(disposeAll);

const env = { GOBLIN_KEYCHAIN: "0" };

/** Its server writes the variables that it got to a file. */
function config(home: CommandHome): Record<string, unknown> {
  const script = `require("fs").writeFileSync("got.new", [process.env.A, process.env.B, process.env.C].join("|")); require("fs").renameSync("got.new", "got"); process.stdin.resume()`;
  return {
    inputs: [
      { id: "my-token", type: "promptString", description: "GitHub token", password: true },
      { id: "my-region", type: "pickString", description: "Region", options: ["eu", "us"], default: "eu" },
      { id: "my-name", type: "promptString", description: "Your name", default: "ada" },
    ],
    servers: {
      one: {
        command: process.execPath,
        args: ["-e", script],
        env: { A: "${input:my-token}", B: "${input:my-region}", C: "${input:my-name}" },
        cwd: home.folder,
      },
    },
    gateway: { port: 0 },
  };
}

test.skipIf(!hasScript)("inputs are asked for once, kept, and not shown if they are passwords", async () => {
  const home = commandHome();
  const file = home.write("team.json", config(home));
  const first = await home.onTerminal(["serve", "--config", file], {
    env,
    typing: [
      ["GitHub token (not shown): ", "hidden-token-1\r"],
      ["1–2 [eu]: ", "3\r"],
      ["1–2 [eu]: ", "2\r"],
      ["Your name [ada]: ", "\r"],
      ["listening on", "\u0003"],
    ],
  });
  expect(first.code).toBe(0);
  expect(first.shown).toContain('Server "one" asks for: GitHub token');
  expect(first.shown).not.toContain("hidden-token-1");
  const listed = await home.goblinWith({ env }, "secret", "list", "--json");
  const names = ["my-name", "my-region", "my-token"].map((id) => ({ name: `input:${id}@${file}`, store: "file" }));
  expect(JSON.parse(listed.out).secrets).toEqual(names);

  const again = await home.onTerminal(["serve", "--config", file], { env, typing: [["listening on", "\u0003"]] });
  expect([again.code, again.shown.includes("asks for")]).toEqual([0, false]);

  const child = home.start(["serve", "--config", file], { env });
  onDispose(() => void child.kill("SIGKILL"));
  await until(() => existsSync(join(home.folder, "got")), { what: "the server's variables" });
  expect(readFileSync(join(home.folder, "got"), "utf8")).toBe("hidden-token-1|us|ada");
});

test("without a terminal the log says how to set an input", async () => {
  const home = commandHome();
  const file = home.write("team.json", config(home));
  const child = home.start(["serve", "--config", file], { env });
  let log = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    log += chunk;
  });
  const sentence = `the input \\"my-token\\" is not set: run goblin secret set input:my-token@${file}`;
  await until(() => log.includes(sentence), { what: "the sentence in the log" });
  expect(log).toContain('"state":"invalid"');
});

test("a config that is not trusted looks nothing up, and trusting it shows the commands", async () => {
  const home = commandHome();
  const mark = join(home.folder, "ran");
  const one = {
    url: "http://127.0.0.1:9/mcp",
    headers: { "X-Key": `\${cmd:touch ${mark}}` },
    auth: { clientId: "x", clientSecret: "${op://Private/Item/key}" },
  };
  const file = home.write("goblin.json", { mcpServers: { one }, gateway: { port: 0 } });
  for (const command of [["serve"], ["stdio"], ["login"], ["auth"], ["check"]]) {
    await home.goblinWith({ env, input: "" }, ...command);
  }
  expect(existsSync(mark)).toBe(false);
  const { out } = await home.goblin("trust");
  expect(out).toContain(`runs for a secret: touch ${mark}\n`);
  expect(out).toContain("takes the secret ${op://Private/Item/key}\n");
  const child = home.start(["serve"], { env });
  await until(() => existsSync(mark), { what: "the command" });
  child.kill("SIGKILL");
  const found = home.write("goblin.json", { mcpServers: {}, gateway: { auth: { tokens: ["${cmd:true}"] } } });
  expect((await home.goblin("trust")).code).toBe(0);
  expect((await home.goblin("stdio")).err).toContain(
    `${found}:1:47 gateway.auth.tokens[0]: a config found in the current folder must not have \${…} in "gateway"`,
  );
  expect(file).toBe(found);
});
