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
  const read = store.read.bind(store);
  // The disk of a busy machine: reads that begin before the login arrive when the test says so.
  let isSlow = true;
  let arrive = (): void => {};
  const arrival = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const done = new Set<number>();
  let count = 0;
  store.read = async () => {
    const [isHeld, turn] = [isSlow, count++];
    const book = await read();
    done.add(turn);
    if (isHeld) await arrival;
    return book;
  };
  const logins = new Logins(store, () => {});
  const { auth } = targetOf(url);
  const server = logins.ofServer({ id: "remote", transport: { kind: "http", url, headers: {} } as never, auth })!;
  const turn = count;
  const early = logins.load();
  await expect.poll(() => done.has(turn)).toBe(true);
  isSlow = false;
  await store.change((book) => ({ ...book, logins: [login] }));
  // The watch of the file may read it as well, at any time.
  await logins.load();
  expect(server.header).toBe("Bearer access");
  arrive();
  await early;
  expect(server.header).toBe("Bearer access");
  await logins.close();
});
