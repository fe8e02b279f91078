import { spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Login, LoginStore } from "../../../../src/auth/login/store.ts";
import { withFileLock } from "../../../../src/auth/secrets/file-lock.ts";
import { disposeAll } from "../../../fixtures/dispose.ts";
import { stateEnv } from "../../../fixtures/logins.ts";

afterEach(disposeAll);

const login: Login = {
  url: "https://mcp.example/mcp",
  issuer: "https://issuer.example",
  resource: "https://mcp.example/mcp",
  principal: "",
  client: { clientId: "goblin", method: "none", redirectUri: "http://127.0.0.1:1/callback" },
  tokenEndpoint: "https://issuer.example/token",
  namesResource: true,
  loggedInAt: 1,
  accessToken: "very-secret-access",
  refreshToken: "very-secret-refresh",
  obtainedAt: 1,
  expiresAt: 2,
  scopes: ["a"],
};
const add = (one: Login) => (book: { logins: readonly Login[] }) =>
  ({ registrations: {}, wanted: {}, issuers: {}, logins: [...book.logins, one] }) as const;

test("another process with the same folder reads what was written; nobody else can", async () => {
  const env = stateEnv();
  await (await LoginStore.open(env)).change(add(login));
  const store = await LoginStore.open(env);
  expect((await store.read()).logins).toEqual([login]);
  expect(statSync(store.file).mode & 0o777).toBe(0o600);
  expect(readFileSync(store.file).includes("secret")).toBe(false);
});

test("parallel changes are all kept", async () => {
  const env = stateEnv();
  const stores = await Promise.all(Array.from({ length: 4 }, () => LoginStore.open(env)));
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => stores[i % 4]!.change(add({ ...login, url: `https://mcp.example/${i}` }))),
  );
  expect((await stores[0]!.read()).logins).toHaveLength(20);
});

test("a file of another key, or a changed one, is an error without its content", async () => {
  const env = stateEnv();
  const store = await LoginStore.open(env);
  await store.change(add(login));
  const bytes = readFileSync(store.file);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(store.file, bytes);
  await expect(store.read()).rejects.toThrow(/cannot be opened with the key of its folder; remove it and log in again/);
});

test("a key that others can read is refused", async () => {
  const env = stateEnv();
  await LoginStore.open(env);
  chmodSync(join(env.XDG_STATE_HOME, "goblin", "key"), 0o644);
  await expect(LoginStore.open(env)).rejects.toThrow(/can be read by others/);
});

test("a login that was removed is not brought back by its renewal", async () => {
  const store = await LoginStore.open(stateEnv());
  await store.replace(login);
  expect((await store.read()).logins).toEqual([]);
});

test("a login that was made anew is not taken back by a renewal of the one before", async () => {
  const store = await LoginStore.open(stateEnv());
  const anew = { ...login, loggedInAt: 2, accessToken: "newer", scopes: ["a", "b"] };
  await store.add(login);
  await store.add(anew);
  await store.replace({ ...login, accessToken: "renewed" });
  expect((await store.read()).logins).toEqual([anew]);
  await store.replace({ ...anew, accessToken: "renewed" });
  expect((await store.read()).logins.map(({ accessToken }) => accessToken)).toEqual(["renewed"]);
});

test("the lock of a killed process is free; that of a running one is not", async () => {
  const env = stateEnv();
  const store = await LoginStore.open(env);
  const child = spawn(process.execPath, ["-e", "process.kill(process.pid, 'SIGKILL')"]);
  await new Promise((resolve) => child.once("exit", resolve));
  writeFileSync(`${store.file}.lock`, String(child.pid));
  await store.change(add(login));
  expect((await store.read()).logins).toHaveLength(1);

  const order: string[] = [];
  const lock = `${store.file}.other`;
  let release = (): void => {};
  const first = withFileLock(lock, async () => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    order.push("first");
  });
  const second = withFileLock(lock, async () => {
    order.push("second");
  });
  release();
  await Promise.all([first, second]);
  expect(order).toEqual(["first", "second"]);
});

/** Holds a lock until it is told to go on. */
function holding(lock: string): { readonly release: () => void; readonly done: Promise<void> } {
  let release = (): void => {};
  const ended = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { release, done: withFileLock(lock, () => ended) };
}

test("a lock of this very process number, but of another process, is free", async () => {
  const { file } = await LoginStore.open(stateEnv());
  writeFileSync(`${file}.lock`, `${process.pid} 0123456789abcdef00000000 ${hostname()}`);
  await expect(withFileLock(`${file}.lock`, async () => "mine")).resolves.toBe("mine");
});

test("a clock that jumps frees no lock whose holder runs", async () => {
  const { file } = await LoginStore.open(stateEnv());
  const lock = `${file}.lock`;
  const first = holding(lock);
  utimesSync(lock, new Date(0), new Date(0));
  let isIn = false;
  const second = withFileLock(lock, async () => {
    isIn = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(isIn).toBe(false);
  first.release();
  await Promise.all([first.done, second]);
  expect(isIn).toBe(true);
});

test("who was stopped so long that another took over leaves the other's lock alone", async () => {
  const { file } = await LoginStore.open(stateEnv());
  const lock = `${file}.lock`;
  const first = holding(lock);
  unlinkSync(lock);
  const second = holding(lock);
  const text = readFileSync(lock, "utf8");
  first.release();
  await first.done;
  expect(readFileSync(lock, "utf8")).toBe(text);
  second.release();
  await second.done;
  expect(existsSync(lock)).toBe(false);
});
