/** Pairing over the API: codes, grants and their end, for the dashboard and the page. */
import { afterEach, expect, test } from "vitest";
import { startGoblin } from "../fixtures/goblin.ts";
import { Browser, handMade, type Paired, paired, startPaired, type Tokens } from "../fixtures/pairing.ts";
import { disposeAll, rawHttp } from "../fixtures/peers.ts";

afterEach(disposeAll);

const ADMIN = "an-admins-token-of-some-length";
const json = { "content-type": "application/json" };
const start = () => startPaired({ auth: { clients: { me: { token: ADMIN, admin: true } } } });

async function ask(origin: string, request: string, token: string | undefined = ADMIN) {
  const [method, path] = request.split(" ") as [string, string];
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { ...authorization, ...(method === "POST" && json) };
  const answer = await fetch(origin + path, { method, headers });
  return { status: answer.status, body: (await answer.json()) as { code: string; items: { id: string }[] } };
}

async function letIn(gateway: Paired, code: string): Promise<Tokens> {
  const client = handMade(gateway);
  const clientId = await client.register({ client_name: "Phone" });
  const location = await new Browser().consent(client.authorizationUrl(clientId), code);
  return (await (await client.exchange(clientId, location.searchParams.get("code")!)).json()) as Tokens;
}

test("a code of the API lets one client in, which is listed and can be ended", async () => {
  const gateway = await start();
  const { origin, url, logs } = gateway.goblin;
  const made = await ask(origin, "POST /api/pairing/codes");
  expect(made).toEqual({
    status: 200,
    body: { code: expect.stringMatching(/^\d{8}$/), expiresAt: expect.any(Number), url },
  });
  const tokens = await letIn(gateway, made.body.code);
  const client = rawHttp(url);
  client.headers = { authorization: `Bearer ${tokens.access_token}` };
  expect((await client.initialize()).status).toBe(200);

  const listed = await ask(origin, "GET /api/grants");
  const grant = {
    id: expect.any(String),
    clientId: expect.any(String),
    name: "Phone",
    host: "127.0.0.1:9",
    resource: url,
    profile: null,
    createdAt: expect.any(Number),
    usedAt: expect.any(Number),
  };
  expect(listed).toEqual({ status: 200, body: { items: [grant], total: 1 } });
  expect(JSON.stringify(listed)).not.toContain(tokens.refresh_token);
  const { id } = listed.body.items[0]!;
  expect(await ask(origin, `DELETE /api/grants/${id}`)).toMatchObject({ status: 200, body: { id, name: "Phone" } });
  expect((await client.post({ jsonrpc: "2.0", id: 2, method: "tools/list" })).status).toBe(401);
  expect((await ask(origin, "GET /api/grants")).body).toEqual({ items: [], total: 0 });
  expect(await ask(origin, `DELETE /api/grants/${id}`)).toMatchObject({
    status: 404,
    body: { error: { code: "GRANT_NOT_FOUND" } },
  });
  // Who did it is in the log, and no code.
  const lines = logs.filter(({ msg }) => /pairing code|grant was ended/.test(msg));
  expect(lines.map(({ extra }) => extra?.["by"])).toEqual(["me", "me"]);
  expect(JSON.stringify(logs)).not.toContain(made.body.code);
});

test("only an admin may make codes, and see and end grants", async () => {
  const gateway = await start();
  const { tokens } = await paired(gateway);
  const [grant] = (await gateway.store.read()).grants;
  for (const request of ["GET /api/grants", `DELETE /api/grants/${grant!.id}`, "POST /api/pairing/codes"]) {
    expect((await ask(gateway.goblin.origin, request, tokens.access_token)).status).toBe(403);
    const { status } = await fetch(gateway.goblin.origin + request.split(" ")[1], {
      method: request.split(" ")[0]!,
      headers: json,
    });
    expect(status).toBe(401);
  }
  expect((await gateway.store.read()).grants).toHaveLength(1);
});

test("without pairing, the API says how to turn it on", async () => {
  const { origin } = await startGoblin({ mcpServers: {} });
  for (const request of ["GET /api/grants", "DELETE /api/grants/x", "POST /api/pairing/codes"]) {
    expect(await ask(origin, request, "")).toEqual({
      status: 409,
      body: { error: { code: "PAIRING_OFF", message: expect.stringContaining('"gateway.auth.pairing"') } },
    });
  }
});
