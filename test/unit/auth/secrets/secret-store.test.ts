import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Keychain, openKeychain } from "../../../../src/auth/secrets/keychain.ts";
import { openStateFolder } from "../../../../src/auth/secrets/sealed-file.ts";
import { SecretStore } from "../../../../src/auth/secrets/secret-store.ts";
import { disposeAll } from "../../../fixtures/dispose.ts";
import { stateEnv } from "../../../fixtures/logins.ts";

afterEach(disposeAll);

/** A keychain as the operating system has it, for one test. */
function memoryKeychain(): Keychain & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    title: "the test's keychain",
    get: async (name) => kept.get(name),
    set: async (name, value) => void kept.set(name, value),
    remove: async (name) => kept.delete(name),
    names: async () => [...kept.keys()],
  };
}

test("without a keychain, secrets are in the file, for all processes of the user", async () => {
  const state = await openStateFolder(stateEnv());
  const [one, other] = [new SecretStore(state, undefined), new SecretStore(state, undefined)];
  await Promise.all([one.set("A", "value-a"), other.set("__proto__", "value-p"), one.set("B", "value-b")]);
  expect(await Promise.all(["A", "__proto__", "B", "constructor"].map((name) => other.get(name)))).toEqual([
    "value-a",
    "value-p",
    "value-b",
    undefined,
  ]);
  expect(one.kind).toBe("file");
  expect(await one.list()).toEqual(["A", "B", "__proto__"].map((name) => ({ name, store: "file" })));
  expect(await one.remove("A")).toBe(true);
  expect(await other.remove("A")).toBe(false);
});

test("a keychain is preferred, and the file is still read", async () => {
  const state = await openStateFolder(stateEnv());
  const keychain = memoryKeychain();
  await new SecretStore(state, undefined).set("OLD", "from-the-file");
  const store = new SecretStore(state, keychain);
  expect([store.kind, store.place]).toEqual(["keychain", "the test's keychain"]);
  expect(await store.get("OLD")).toBe("from-the-file");
  await store.set("NEW", "value");
  expect(await store.list()).toEqual([
    { name: "NEW", store: "keychain" },
    { name: "OLD", store: "file" },
  ]);
  // From then on there is one value only.
  await store.set("OLD", "newer");
  expect(keychain.kept.get("OLD")).toBe("newer");
  await expect(new SecretStore(state, undefined).get("OLD")).rejects.toThrow(/^it is in the keychain/);
  expect(await store.remove("OLD")).toBe(true);
  expect(await store.get("OLD")).toBeUndefined();
});

test("a value that is too long for the keychain goes to the file, and replaces the one in the keychain", async () => {
  const state = await openStateFolder(stateEnv());
  const keychain = { ...memoryKeychain(), longest: 10 };
  const store = new SecretStore(state, keychain);
  expect(await store.set("A", "short")).toBe("keychain");
  expect(await store.set("A", "a longer value")).toBe("file");
  expect(await store.get("A")).toBe("a longer value");
  expect(await store.list()).toEqual([{ name: "A", store: "file" }]);
  expect(await store.set("A", "short")).toBe("keychain");
  expect([await store.get("A"), await new SecretStore(state, undefined).list()]).toEqual([
    "short",
    [{ name: "A", store: "keychain" }],
  ]);
});

test("a secret in the file is found although the keychain is locked", async () => {
  const state = await openStateFolder(stateEnv());
  await new SecretStore(state, undefined).set("OLD", "from-the-file");
  const locked = { ...memoryKeychain(), get: () => Promise.reject(new Error("locked")) };
  expect(await new SecretStore(state, locked).get("OLD")).toBe("from-the-file");
  await expect(new SecretStore(state, locked).get("NEW")).rejects.toThrow(/^the test's keychain is locked or does/);
});

test("a changed file is an error that says what to do", async () => {
  const state = await openStateFolder(stateEnv());
  const store = new SecretStore(state, undefined);
  await store.set("A", "value-a");
  const file = join(state.folder, "secrets");
  writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.of(7)]));
  await expect(store.get("A")).rejects.toThrow(
    `${file} cannot be opened with the key of its folder; remove it and set the secrets again`,
  );
});

test.each(["", " a", "a\nb", "${a}", "x".repeat(600)])("%j is no name of a secret", async (name) => {
  const store = new SecretStore(await openStateFolder(stateEnv()), undefined);
  await expect(store.set(name, "value")).rejects.toThrow(/a secret's name/);
});

test("a keychain that is switched off or has no session is not used", async () => {
  expect(await openKeychain({ GOBLIN_KEYCHAIN: "0", DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" })).toBeUndefined();
  if (process.platform !== "linux") return;
  expect(await openKeychain({})).toBeUndefined();
  expect(await openKeychain({ DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere" })).toBeUndefined();
});
