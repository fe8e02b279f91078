/**
 * The keychain of the operating system, as a real one: a Secret Service on Linux. Elsewhere, and
 * without its programs, these tests are skipped.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Logins } from "../../../../src/auth/login/logins.ts";
import { type Login, LoginStore } from "../../../../src/auth/login/store.ts";
import { SecretStore } from "../../../../src/auth/secrets/secret-store.ts";
import { disposeAll } from "../../../fixtures/dispose.ts";
import { stateEnv } from "../../../fixtures/logins.ts";
import { type SecretService, startSecretService, whyNoSecretService } from "../../../fixtures/secret-service.ts";

const missing = process.platform === "linux" ? whyNoSecretService() : "not Linux";
const title = `a Secret Service${missing === undefined ? "" : ` (skipped: ${missing})`}`;

function loginOf(path: string): Login {
  return {
    url: `https://mcp.example/${path}`,
    issuer: "https://issuer.example",
    resource: "https://mcp.example/mcp",
    principal: "",
    client: { clientId: "goblin", method: "none", redirectUri: "http://127.0.0.1:1/callback" },
    tokenEndpoint: "https://issuer.example/token",
    namesResource: true,
    loggedInAt: 1,
    // Much more than any keychain takes.
    accessToken: randomBytes(60_000).toString("base64"),
    obtainedAt: 1,
    scopes: [],
  };
}

const pathsIn = async (store: LoginStore): Promise<string[]> =>
  (await store.read()).logins.map(({ url }) => new URL(url).pathname.slice(1)).sort();

// A process has one connection to a session bus, so all tests share one, and the last locks it.
describe.skipIf(missing !== undefined)(title, () => {
  let service: SecretService;
  beforeAll(async () => {
    service = await startSecretService();
  });
  afterAll(disposeAll);

  test("keeps secrets: set, found, listed, replaced and removed, and visible to its own tools", async () => {
    const env = { ...stateEnv(), ...service.env };
    const store = await SecretStore.open(env);
    expect([store.kind, store.place]).toEqual(["keychain", "the Secret Service"]);
    const long = "ü".repeat(20_000);
    expect(await store.set("a name: with spaces", "value-1")).toBe("keychain");
    expect(await store.set("LONG", long)).toBe("keychain");
    await store.set("a name: with spaces", "value-2");
    const other = await SecretStore.open(env);
    expect(await other.get("a name: with spaces")).toBe("value-2");
    expect((await other.get("LONG")) === long).toBe(true);
    expect(await other.get("NONE")).toBeUndefined();
    expect(await other.list()).toEqual([
      { name: "LONG", store: "keychain" },
      { name: "a name: with spaces", store: "keychain" },
    ]);
    const args = ["lookup", "service", "goblin-mcp", "username", "a name: with spaces"];
    expect(execFileSync("secret-tool", args, { env: { ...process.env, ...service.env } }).toString()).toBe("value-2");
    expect(await other.remove("LONG")).toBe(true);
    expect(await other.remove("LONG")).toBe(false);
    expect(await store.get("LONG")).toBeUndefined();
  });

  test("keeps the key of the logins, which a copy of the state folder does not open", async () => {
    const folder = stateEnv();
    // Logged in before there was a keychain.
    const before = await LoginStore.open(folder);
    await before.add(loginOf("old"));
    expect(await before.isInKeychain()).toBe(false);
    const env = { ...folder, ...service.env };
    await (await LoginStore.open(env)).add(loginOf("new"));
    const store = await LoginStore.open(env);
    expect(await store.isInKeychain()).toBe(true);
    expect(await pathsIn(store)).toEqual(["new", "old"]);
    // The key is not one of the user's secrets.
    expect((await (await SecretStore.open(env)).list()).filter(({ name }) => name.includes("key of"))).toEqual([]);
    const without = await LoginStore.open({ ...env, GOBLIN_KEYCHAIN: "0" });
    await expect(without.read()).rejects.toThrow(
      `The key of ${store.file} is in the keychain of the operating system, which cannot be reached from here; ` +
        "unlock it, or remove the file and log in again",
    );
  });

  test("two processes that write the first login at the same time lose none", async () => {
    const env = { ...stateEnv(), ...service.env };
    const paths = ["a", "b", "c", "d", "e", "f"];
    await Promise.all(paths.map(async (path) => (await LoginStore.open(env)).add(loginOf(path))));
    expect(await pathsIn(await LoginStore.open(env))).toEqual(paths);
  });

  test("one that is locked, then vanishes, is a clear error; nothing is lost, nothing is written elsewhere", async () => {
    const env = { ...stateEnv(), ...service.env };
    const running = await LoginStore.open(env);
    await running.add(loginOf("a"));
    await (await SecretStore.open(env)).set("NAME", "value");
    const kept = readFileSync(running.file);
    service.lock();
    const late = await LoginStore.open(env);
    const locked = /^The key of .* is in the Secret Service, which is locked or does not answer \(.*\); unlock it, or /;
    await expect(late.read()).rejects.toThrow(locked);
    await expect(late.add(loginOf("b"))).rejects.toThrow(locked);
    expect(readFileSync(running.file).equals(kept)).toBe(true);
    const secrets = await SecretStore.open(env);
    const advice = /^the Secret Service is locked or does not answer \(.*\); unlock it, or set GOBLIN_KEYCHAIN=0/;
    await expect(secrets.get("NAME")).rejects.toThrow(advice);
    await expect(secrets.set("OTHER", "value")).rejects.toThrow(advice);
    await expect(secrets.list()).rejects.toThrow(advice);
    // A process that has the key goes on.
    await running.add(loginOf("c"));
    expect(await pathsIn(running)).toEqual(["a", "c"]);

    // The first login of all goes to the file, rather than nowhere.
    const first = await LoginStore.open({ ...stateEnv(), ...service.env });
    await first.add(loginOf("a"));
    expect(await first.isInKeychain()).toBe(false);
    expect(await pathsIn(first)).toEqual(["a"]);

    await service.end();
    const warnings: string[] = [];
    const logins = new Logins(await LoginStore.open(env), (message) => warnings.push(message));
    await logins.load();
    await logins.close();
    expect(warnings).toEqual([
      expect.stringMatching(/^The key of .*logins is in the keychain of the operating system/),
    ]);
    const later = await SecretStore.open(env);
    await expect(later.get("NAME")).rejects.toThrow(
      "it is in the keychain of the operating system, which cannot be reached from here",
    );
    expect(await later.list()).toEqual([{ name: "NAME", store: "keychain" }]);
    expect(await pathsIn(running)).toEqual(["a", "c"]);
  });
});
