/** What time does to codes, tokens, keys and registrations: the server with a clock of its own. */
import { createHash } from "node:crypto";
import * as jose from "jose";
import { afterEach, expect, test } from "vitest";
import { newCode } from "../../src/auth/pairing/codes.ts";
import { LiveBook } from "../../src/auth/pairing/live-book.ts";
import { AuthorizationServer } from "../../src/auth/pairing/server/authorization-server.ts";
import { PairingStore } from "../../src/auth/pairing/store.ts";
import { onDispose } from "../fixtures/dispose.ts";
import { stateEnv } from "../fixtures/logins.ts";
import { ticketIn } from "../fixtures/pairing.ts";
import { disposeAll } from "../fixtures/peers.ts";

afterEach(disposeAll);

const ISSUER = "https://goblin.example";
const CALLBACK = "https://app.example/callback";
const VERIFIER = "v".repeat(43);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

async function start() {
  const clock = { now: Date.now() };
  const store = await PairingStore.open(stateEnv());
  const book = await LiveBook.open(store, () => {});
  onDispose(() => book.close());
  const reasons: string[] = [];
  let posts = 0;
  const server = new AuthorizationServer({
    issuer: ISSUER,
    book,
    privateHosts: [],
    now: () => clock.now,
    profiles: () => [],
    refused: (reason) => void reasons.push(reason),
  });
  const send = (path: string, init?: RequestInit, network = "192.0.2.1") =>
    server.fetch(new Request(ISSUER + path, init), network);
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    send(path, { method: "POST", headers, body: new URLSearchParams(fields) }, `198.51.100.${++posts}`);
  const register = async (network?: string) => {
    const init = { method: "POST", headers: { "content-type": "application/json" } };
    const body = JSON.stringify({ redirect_uris: [CALLBACK], client_name: "App" });
    return send("/oauth/register", { ...init, body }, network);
  };
  const open = async (clientId: string) => {
    const challenge = createHash("sha256").update(VERIFIER).digest("base64url");
    const query = new URLSearchParams({
      response_type: "code",
      client_id: clientId,
      redirect_uri: CALLBACK,
      code_challenge: challenge,
      code_challenge_method: "S256",
    });
    const answer = await send(`/oauth/authorize?${query}`);
    return { cookie: answer.headers.get("set-cookie")!, ticket: ticketIn(await answer.text()) };
  };
  const submit = ({ cookie, ticket }: { cookie: string; ticket: string }, code: string) =>
    post("/oauth/authorize", { ticket, code, choice: "allow" }, { cookie: cookie.split(";")[0]! });
  const consent = async (clientId: string) => {
    const page = await open(clientId);
    const { code } = await newCode(store, ISSUER, clock.now);
    return new URL((await submit(page, code)).headers.get("location")!).searchParams.get("code")!;
  };
  const exchange = (clientId: string, code: string) =>
    post("/oauth/token", { grant_type: "authorization_code", client_id: clientId, code, code_verifier: VERIFIER });
  const refresh = (clientId: string, token: string) =>
    post("/oauth/token", { grant_type: "refresh_token", client_id: clientId, refresh_token: token });
  const paired = async () => {
    const { client_id: clientId } = (await (await register()).json()) as { client_id: string };
    const answer = await exchange(clientId, await consent(clientId));
    return { clientId, tokens: (await answer.json()) as { access_token: string; refresh_token: string } };
  };
  return { clock, store, book, server, send, register, open, submit, consent, exchange, refresh, paired };
}

const idOf = async (answer: Response) => ((await answer.json()) as { client_id: string }).client_id;

test("the cookie of the page is for this host only, over TLS only", async () => {
  const { open, register } = await start();
  const { cookie } = await open(await idOf(await register()));
  expect(cookie).toMatch(/^__Host-goblin-pairing=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/);
});

test("a page lives ten minutes, a code five, an authorization code one", async () => {
  const { clock, store, register, open, submit, consent, exchange } = await start();
  const clientId = await idOf(await register());
  const page = await open(clientId);
  const { code } = await newCode(store, ISSUER, clock.now);
  clock.now += 5 * MINUTE;
  expect((await submit(page, code)).status).toBe(403);
  clock.now += 5 * MINUTE;
  const late = await newCode(store, ISSUER, clock.now);
  expect((await submit(page, late.code)).status).toBe(400);
  expect((await submit(await open(clientId), late.code)).status).toBe(303);
  const authorization = await consent(clientId);
  clock.now += MINUTE;
  expect((await exchange(clientId, authorization)).status).toBe(400);
});

test("wrong attempts from many networks make a code void just the same", async () => {
  const { clock, store, register, open, submit } = await start();
  const page = await open(await idOf(await register()));
  const { code } = await newCode(store, ISSUER, clock.now);
  const wrong = code.replace(/.$/, (digit) => String((Number(digit) + 1) % 10));
  // Each comes from a network of its own.
  for (let i = 0; i < 5; i++) expect((await submit(page, wrong)).status).toBe(403);
  expect((await submit(page, code)).status).toBe(403);
});

test("a newer code makes the older one void, and codes of other gateways do not count", async () => {
  const { clock, store, register, open, submit } = await start();
  const page = await open(await idOf(await register()));
  const first = await newCode(store, ISSUER, clock.now);
  const other = await newCode(store, "https://other.example", clock.now);
  const second = await newCode(store, ISSUER, clock.now);
  expect((await submit(page, first.code)).status).toBe(first.code === second.code ? 303 : 403);
  expect((await submit(page, other.code)).status).toBe(403);
  expect((await submit(page, second.code)).status).toBe(303);
});

test("an access token lives ten minutes; a lost answer can be had again for half a minute", async () => {
  const { clock, server, refresh, paired, store } = await start();
  const { clientId, tokens } = await paired();
  await expect(server.verify(tokens.access_token)).resolves.toMatchObject({
    aud: `${ISSUER}/mcp`,
    client_id: clientId,
  });
  const renewed = (await (await refresh(clientId, tokens.refresh_token)).json()) as typeof tokens;
  clock.now += 30_000;
  const again = (await (await refresh(clientId, tokens.refresh_token)).json()) as typeof tokens;
  expect(again.refresh_token).toBe(renewed.refresh_token);
  clock.now += 10 * MINUTE;
  await expect(server.verify(tokens.access_token)).rejects.toThrow("exp");
  expect((await refresh(clientId, tokens.refresh_token)).status).toBe(400);
  expect((await store.read()).grants).toEqual([]);
  expect((await refresh(clientId, renewed.refresh_token)).status).toBe(400);
});

test("a grant that nobody used for three months has ended", async () => {
  const { clock, refresh, paired } = await start();
  const { clientId, tokens } = await paired();
  clock.now += 89 * DAY;
  const renewed = (await (await refresh(clientId, tokens.refresh_token)).json()) as typeof tokens;
  clock.now += 91 * DAY;
  expect((await refresh(clientId, renewed.refresh_token)).status).toBe(400);
});

test("a key signs for a month, and is published until its last token has expired", async () => {
  const { clock, server, refresh, paired, send } = await start();
  const { clientId, tokens } = await paired();
  const kidOf = (token: string) => jose.decodeProtectedHeader(token).kid;
  const published = async () =>
    ((await (await send("/oauth/jwks")).json()) as jose.JSONWebKeySet).keys.map(({ kid }) => kid);
  expect(await published()).toEqual([kidOf(tokens.access_token)]);
  clock.now += 30 * DAY - MINUTE;
  const last = (await (await refresh(clientId, tokens.refresh_token)).json()) as typeof tokens;
  expect(kidOf(last.access_token)).toBe(kidOf(tokens.access_token));
  clock.now += 2 * MINUTE;
  const next = (await (await refresh(clientId, last.refresh_token)).json()) as typeof tokens;
  expect(kidOf(next.access_token)).not.toBe(kidOf(last.access_token));
  expect(await published()).toEqual([kidOf(last.access_token), kidOf(next.access_token)]);
  await expect(server.verify(last.access_token)).resolves.toBeDefined();
  clock.now += 60 * MINUTE;
  expect(await published()).toEqual([kidOf(next.access_token)]);
  expect(JSON.stringify(await (await send("/oauth/jwks")).json())).not.toContain('"d"');
});

test("registrations that nobody used make room after ten minutes, and end after a day", async () => {
  const { clock, store, register, paired } = await start();
  const { clientId: used } = await paired();
  const fill = async () => {
    for (let network = 0; network < 10; network++) {
      for (let i = 0; i < 10; i++) {
        // A minute has room for 60 from all networks together.
        if ((network * 10 + i) % 50 === 0) clock.now += MINUTE;
        expect((await register(`net ${network}`)).status).toBe(201);
      }
    }
  };
  await fill();
  clock.now += MINUTE;
  // There is no room to store one more, so its id holds it.
  expect((await idOf(await register())).length).toBeGreaterThan(100);
  expect((await store.read()).clients).toHaveLength(101);
  clock.now += 10 * MINUTE;
  expect((await register()).status).toBe(201);
  expect((await store.read()).clients).toHaveLength(101);
  clock.now += DAY;
  const id = await idOf(await register());
  expect((await store.read()).clients.map((client) => client.id)).toEqual([used, id]);
});
