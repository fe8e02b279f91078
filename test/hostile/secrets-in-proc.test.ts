/**
 * What another process of the machine sees of a running gateway: command lines, which everybody may
 * read, and environments, which the user's own programs may.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { LoginStore } from "../../src/auth/login/store.ts";
import { SecretStore } from "../../src/auth/secrets/secret-store.ts";
import { PROGRAM } from "../fixtures/command.ts";
import { disposeAll, onDispose } from "../fixtures/dispose.ts";
import { startGuarded } from "../fixtures/guarded.ts";
import { logIn, targetOf } from "../fixtures/logins.ts";
import { startOidc } from "../fixtures/oidc.ts";
import { commandOf, descendants } from "../fixtures/processes.ts";
import { startScripted } from "../fixtures/scripted.ts";
import { serveHome, startServe } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

const TOKEN = "client-t0ken-0123456789abcdef";
const SECRET = "kept-s3cret-0123456789abcdef";
const GIVEN = "env-s3cret-0123456789abcdef";

/** Empty if the process has ended. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}

test.skipIf(process.platform !== "linux")(
  "no secret is in a command line, or in another program's environment",
  async () => {
    const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
    const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
    const idle = "process.stdin.resume()";
    const home = await serveHome({
      gateway: { auth: { clients: { ada: { token: "${env:ADA_TOKEN}", admin: true } } } },
      mcpServers: {
        holder: { command: process.execPath, args: ["-e", idle], env: { A: "${keychain:KEPT}", B: "${env:GIVEN}" } },
        other: { command: process.execPath, args: ["-e", idle] },
        remote: { url: guarded.url },
      },
    });
    const state = { XDG_STATE_HOME: join(home.folder, "state"), GOBLIN_KEYCHAIN: "0" };
    const login = await logIn(state, targetOf(guarded.url), oidc);
    await (await SecretStore.open(state)).set("KEPT", SECRET);
    const served = await startServe(home, { ...state, ADA_TOKEN: TOKEN, GIVEN, GOBLIN_TOKEN: TOKEN });
    const isHolder = (pid: number): boolean => environmentOf(pid).includes(`A=${SECRET}`);
    await until(() => descendants(served.pid).some(isHolder), { what: "the server with the secret" });
    const client = spawn(process.execPath, [PROGRAM, "stdio", "--attach", "--config", home.configFile], {
      stdio: ["pipe", "ignore", "ignore"],
      env: { ...process.env, ...state, GOBLIN_TOKEN: TOKEN },
    });
    onDispose(() => void client.kill("SIGKILL"));

    const { refreshToken, accessToken } = (await (await LoginStore.open(state)).read()).logins[0]!;
    const issued = [refreshToken!, accessToken, login.accessToken];
    const all = [served.pid, ...descendants(served.pid), client.pid!, ...descendants(client.pid!)];
    for (const pid of all) {
      for (const value of [TOKEN, SECRET, GIVEN, ...issued]) expect(commandOf(pid)).not.toContain(value);
      for (const value of issued) expect(environmentOf(pid)).not.toContain(value);
    }
    for (const pid of descendants(served.pid).filter((one) => !isHolder(one))) {
      for (const value of [TOKEN, SECRET, GIVEN]) expect(environmentOf(pid)).not.toContain(value);
    }
    // What the gateway was not given it does not put into its own environment.
    expect(environmentOf(served.pid)).not.toContain(SECRET);
  },
);
