/**
 * What is true of every config that was found in the current folder, whatever its name and form:
 * checked in trust.slow.ts.
 */
import { once } from "node:events";
import { statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { type CommandHome, commandHome } from "../fixtures/command.ts";
import { onDispose, until } from "../fixtures/peers.ts";

/** A config whose server leaves a file behind as soon as it is run. */
export function trap(home: CommandHome): Record<string, unknown> {
  const script = `require("fs").writeFileSync(${JSON.stringify(join(home.folder, "ran"))}, "")`;
  return { mcpServers: { trap: { command: process.execPath, args: ["-e", script] } }, gateway: { port: 0 } };
}

export const hasRun = (home: CommandHome): boolean => {
  try {
    return statSync(join(home.folder, "ran")).isFile();
  } catch {
    return false;
  }
};

/** Starts the gateway for a client, and waits until the config's program has run. */
export async function runsIt(home: CommandHome, args: string[]): Promise<void> {
  const stdio = home.start(args);
  const ended = once(stdio, "exit");
  // Without a client, nothing needs to run.
  await until(() => hasRun(home));
  stdio.stdin!.end();
  expect(await ended).toEqual([0, null]);
}

/** Nothing of this file runs before it is trusted. */
export async function runsNothingUntrusted(name: string): Promise<void> {
  const home = commandHome();
  const file = home.write(name, trap(home));
  const refusal =
    `${file}: this file was found in the current folder and is not trusted, so none of it takes effect ` +
    `(look at it, then run: goblin trust ${file}; or name it with --config)\n`;
  for (const command of ["serve", "stdio"]) {
    expect(await home.goblin(command)).toEqual({ code: 1, out: "", err: refusal });
  }
  expect((await home.goblin("tokens")).code).toBe(1);
  expect((await home.goblin("list", "tools")).code).toBe(1);
  expect((await home.goblin("complete", "--line", "goblin call ")).out).toBe("");
  expect(hasRun(home)).toBe(false);
  const trusted = await home.goblin("trust");
  expect(trusted.code).toBe(0);
  expect(trusted.out).toContain("trap  ");
  expect(trusted.out).toContain(`Trusted until it changes: ${file}\n`);
  await runsIt(home, ["stdio"]);
}

/** An address of this machine that is not its loopback, if it has one. */
export const outer = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

/** A server on all addresses that writes down what it gets. */
async function recorder(): Promise<{ port: number; got: string[] }> {
  const got: string[] = [];
  const server = createServer((request, response) => {
    got.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  onDispose(() => void server.close());
  return { port: (server.address() as AddressInfo).port, got };
}

/** Neither a request nor a token gets to another host that the file names, trusted or not. */
export async function leadsNowhereElse(commands: readonly string[][]): Promise<void> {
  const home = commandHome();
  const { port, got } = await recorder();
  const file = home.write("goblin.json", { gateway: { host: outer, port, auth: { tokens: ["from-the-file-1"] } } });
  const env = { GOBLIN_TOKEN: "from-the-environment" };
  for (const trusted of [false, true]) {
    if (trusted) await home.goblin("trust");
    for (const command of commands) {
      const ran = await home.goblinWith({ env }, ...command);
      expect(ran, command.join(" ")).toMatchObject({ code: 2, out: "" });
      expect(ran.err).toContain(
        `goblin: ${file} was found in the current folder and names a gateway on ${outer}: such a file must ` +
          "not direct tokens or requests to another host; name the gateway with --url\n",
      );
    }
    expect(await home.goblinWith({ env }, "complete", "--line", "goblin call ")).toEqual({ code: 0, out: "", err: "" });
  }
  expect(got).toEqual([]);
}

export async function isNotThisMachine(host: string): Promise<void> {
  const home = commandHome();
  home.write("goblin.json", { gateway: { host } });
  expect((await home.goblin("status")).err).toContain(`names a gateway on ${host}: such a file must not`);
}

/** The question shows the server that would run. */
export async function showsItsServer(config: object): Promise<void> {
  const home = commandHome();
  home.write(".mcp.json", config);
  expect((await home.goblin("check")).out).toContain("OK, 1 server");
  expect((await home.goblin("trust")).out).toContain("trap  run-me now\n");
}
