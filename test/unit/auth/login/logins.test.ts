import { afterEach, expect, test } from "vitest";
import { Logins } from "../../../../src/auth/login/logins.ts";
import { type Login, LoginStore } from "../../../../src/auth/login/store.ts";
import { disposeAll } from "../../../fixtures/dispose.ts";
import { stateEnv, targetOf } from "../../../fixtures/logins.ts";

afterEach(disposeAll);

const url = "https://mcp.example/mcp";
const login: Login = {
  url,
  issuer: "https://issuer.example",
  resource: url,
  principal: "",
  namesResource: true,
  client: { clientId: "goblin", method: "none", redirectUri: "http://127.0.0.1:1/callback" },
  tokenEndpoint: "https://issuer.example/token",
  loggedInAt: 1,
  accessToken: "access",
  obtainedAt: 1,
  scopes: [],
};

test("a read of the store that ends late takes no newer login back", async () => {
  const store = await LoginStore.open(stateEnv());
  const reads: (() => void)[] = [];
  const read = store.read.bind(store);
  // The disk of a busy machine: what was read first arrives when the test says so.
  store.read = async () => {
    const book = await read();
    await new Promise<void>((resolve) => reads.push(resolve));
    return book;
  };
  const logins = new Logins(store, () => {});
  const { auth } = targetOf(url);
  const server = logins.ofServer({ id: "remote", transport: { kind: "http", url, headers: {} } as never, auth })!;
  const early = logins.load();
  await expect.poll(() => reads.length).toBeGreaterThan(0);
  const atFirst = reads.length;
  await store.change((book) => ({ ...book, logins: [login] }));
  const late = logins.load();
  await expect.poll(() => reads.length).toBeGreaterThan(atFirst);
  for (const end of reads.slice(atFirst)) end();
  await late;
  expect(server.header).toBe("Bearer access");
  for (const end of reads.slice(0, atFirst)) end();
  await early;
  expect(server.header).toBe("Bearer access");
  await logins.close();
});
