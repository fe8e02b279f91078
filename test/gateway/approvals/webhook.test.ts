/** The webhook: signed, tried again, and never followed elsewhere. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { ApprovalRecord } from "../../../src/auth/approvals/record.ts";
import { signatureOf, Webhook } from "../../../src/auth/approvals/webhook.ts";
import { startAsking } from "../../fixtures/approvals.ts";
import { connectV1, disposeAll, onDispose, until } from "../../fixtures/peers.ts";

afterEach(disposeAll);

interface Got {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** `statuses`: of the first answers; later ones are 200. */
async function receiver(statuses: number[] = []) {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk;
    });
    request.on("end", () => {
      got.push({ path: request.url, headers: request.headers, body });
      response.writeHead(statuses.shift() ?? 200, { location: "/elsewhere" }).end("ignored");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onDispose(() => {
    server.closeAllConnections();
    server.close();
  });
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/T0PSECRETPATH` };
}

const secret = "a-long-secret-of-the-webhook";

test("tells of each call that waits and how it ended, signed and without secrets", async () => {
  const { got, url: hook } = await receiver();
  const webhook = { url: hook, secret };
  const { url, ops, origin, logs } = await startAsking({
    approvals: { webhook },
    policy: { rules: [{ id: "echoes", effect: "ask", tools: ["web/echo"] }] },
  });
  const { client } = await connectV1({ url });
  const call = client.callTool({ name: "web_echo", arguments: { text: "x", value: { password: "hunter22" } } });
  const [row] = await ops.held();
  await until(() => got.length === 1);
  await ops.allow(row!.id);
  await call;
  await until(() => got.length === 2);
  const bodies = got.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  expect(bodies[0]).toMatchObject({
    type: "approval.held",
    id: row!.id,
    server: "web",
    tool: "echo",
    arguments: '{"text":"x","value":{"password":"***"}}',
    digest: row!.digest,
    rule: "echoes",
    page: `${origin}/ui/approvals/${row!.id}`,
  });
  expect(bodies[1]).toMatchObject({ type: "approval.allowed", id: row!.id, by: "operator" });
  for (const { headers, body } of got) {
    const timestamp = Number(headers["x-goblin-timestamp"]);
    expect(Math.abs(Date.now() / 1000 - timestamp)).toBeLessThan(120);
    expect(headers["x-goblin-signature"]).toBe(`sha256=${signatureOf(secret, timestamp, body)}`);
    expect(body).not.toContain("hunter22");
  }
  const { body: config } = await ops.request("/api/config");
  expect(JSON.stringify(config)).not.toContain(secret);
  expect(JSON.stringify([config, logs])).not.toContain("T0PSECRETPATH");
});

test("is tried again a few times, and follows no redirect", async () => {
  const { got, url } = await receiver([500, 302, 503, 500, 500]);
  const told: string[] = [];
  const hook = new Webhook({
    settings: () => ({ url, secret }),
    pageOf: () => undefined,
    warn: (message) => told.push(message),
    pausesMs: [1, 1],
  });
  onDispose(() => hook.close());
  const subject = { kind: "tool", name: "add" } as ApprovalRecord["subject"];
  const times = { proposedAt: 0, expiresAt: 0 };
  const record = { id: "1", subject, shown: "{}", bytes: 2, ...times, state: "held", runs: 0 } as ApprovalRecord;
  hook.changed(record);
  // The same state is told once.
  hook.changed(record);
  await until(() => told.length === 1);
  expect(told).toEqual(["The webhook of approvals was not told: it answered 503"]);
  expect(got.map(({ path }) => path)).toEqual(Array(3).fill("/hooks/T0PSECRETPATH"));
  expect(new Set(got.map(({ headers }) => headers["x-goblin-delivery"])).size).toBe(1);
});
