/** Where requests come from: what a trusted proxy says counts, what anybody else says does not. */
import { afterEach, expect, test } from "vitest";
import { startPaired } from "../fixtures/pairing.ts";
import { disposeAll } from "../fixtures/peers.ts";

afterEach(disposeAll);

const PER_MINUTE = 10;
/** The length of the id of a client that is stored. Those that are too many hold themselves. */
const STORED = 16;

/** Registers clients, each with another address in the header. Returns the lengths of their ids. */
async function register(origin: string, count: number): Promise<number[]> {
  const lengths: number[] = [];
  for (let n = 0; n < count; n++) {
    const answer = await fetch(`${origin}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": `192.0.2.${n}` },
      body: JSON.stringify({ client_name: "Many", redirect_uris: ["http://127.0.0.1:9/callback"] }),
    });
    expect(answer.status).toBe(201);
    lengths.push(((await answer.json()) as { client_id: string }).client_id.length);
  }
  return lengths;
}

test("clients behind a trusted proxy are counted apart, and the log names them", async () => {
  const { goblin } = await startPaired({ gateway: { trustedProxies: ["127.0.0.1"] } });
  expect(new Set(await register(goblin.origin, PER_MINUTE + 2))).toEqual(new Set([STORED]));
  const headers = { authorization: "Bearer nonsense", "x-forwarded-for": "203.0.113.1, 192.0.2.77" };
  for (const path of ["/mcp", "/metrics"]) {
    expect((await fetch(goblin.origin + path, { method: path === "/mcp" ? "POST" : "GET", headers })).status).toBe(401);
  }
  const lines = goblin.logs.filter(({ msg }) => msg === "Refused a token");
  expect(lines.map(({ extra }) => extra?.["from"])).toEqual(["192.0.2.77", "192.0.2.77"]);
});

test("without one, a header changes nothing", async () => {
  const { goblin } = await startPaired();
  const lengths = await register(goblin.origin, PER_MINUTE + 2);
  expect(new Set(lengths.slice(0, PER_MINUTE))).toEqual(new Set([STORED]));
  for (const length of lengths.slice(PER_MINUTE)) expect(length).toBeGreaterThan(STORED);
  const headers = { authorization: "Bearer nonsense", "x-forwarded-for": "192.0.2.77" };
  expect((await fetch(goblin.url, { method: "POST", headers })).status).toBe(401);
  expect(goblin.logs.find(({ msg }) => msg === "Refused a token")?.extra?.["from"]).toBe("127.0.0.1");
});
