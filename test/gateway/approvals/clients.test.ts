/** What clients are asked beside the operator, and when their own answer counts. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { askAdd, runsOf, startAsking } from "../../fixtures/approvals.ts";
import { PROGRAM } from "../../fixtures/command.ts";
import { connectV1, connectV2, disposeAll, onDispose, startScripted } from "../../fixtures/peers.ts";

afterEach(disposeAll);

const add = { name: "web_add", arguments: { a: 1, b: 2 } };
const token = "the-long-token-of-ada";
const admin = "the-long-token-of-ops";
const gateway = { auth: { clients: { ada: { token } } }, admin: { tokens: [admin] } };
const headers = { authorization: `Bearer ${token}` };
type Question = Record<string, unknown>;

const eras = [
  ["v1", (options: Parameters<typeof connectV1>[0]) => connectV1(options)],
  ["v2 modern", (options: Parameters<typeof connectV1>[0]) => connectV2({ ...options, era: "modern" })],
] as const;

describe.each(eras)("a %s client", (_name, connect) => {
  test("that opens links gets one for an operator; its own accept counts for nothing", async () => {
    const { url, origin, ops, web } = await startAsking({ gateway }, admin);
    const questions: Question[] = [];
    const elicitation = (params: Question) => {
      questions.push(params);
      return { action: "accept" };
    };
    const { client } = await connect({ url, headers, elicitation });
    const call = client.callTool(add);
    const [row] = await ops.held();
    await expect.poll(() => questions.length, { timeout: 60_000 }).toBe(1);
    expect(questions[0]).toMatchObject({
      mode: "url",
      url: `${origin}/ui/approvals/${row!.id}`,
      message: 'web_add of server "web" needs a person\'s approval (sums are sensitive). An operator can answer here.',
    });
    expect((await ops.list())[0]).toMatchObject({ state: "held" });
    expect(await runsOf(web)).toEqual([]);
    await ops.allow(row!.id);
    expect(await call).toMatchObject({ content: [{ text: "3" }] });
  });

  test("that the config trusts asks its own user, who decides", async () => {
    const { url, ops, web } = await startAsking({ gateway, approvals: { trustClients: ["ada"] } }, admin);
    const questions: Question[] = [];
    const answers = ["accept", "decline"];
    const elicitation = (params: Question) => {
      questions.push(params);
      const action = answers.shift();
      return action === "accept" ? { action, content: {} } : { action };
    };
    const { client } = await connect({ url, headers, elicitation });
    expect(await client.callTool(add)).toMatchObject({ content: [{ text: "3" }] });
    expect(questions[0]!["message"]).toBe(
      'Allow web_add of server "web" (sums are sensitive) with these arguments?\n{"a":1,"b":2}',
    );
    const second = await client.callTool(add).then(
      () => "it ran",
      (error: Error) => error.message,
    );
    expect(second).toContain("a person denied it");
    expect((await ops.list()).map(({ state, by }) => [state, by?.startsWith("the client test-")])).toEqual([
      ["allowed", true],
      ["denied", true],
    ]);
    expect(await runsOf(web)).toHaveLength(1);
  });
});

test("trust is in the token's name, not in what a client calls itself", async () => {
  const { url, ops } = await startAsking({ gateway, approvals: { trustClients: ["test-v1"] } }, admin);
  const modes: unknown[] = [];
  const elicitation = (params: Question) => {
    modes.push(params["mode"]);
    return { action: "accept", content: {} };
  };
  const { client } = await connectV1({ url, headers, elicitation });
  const call = client.callTool(add);
  const [row] = await ops.held();
  await expect.poll(() => modes, { timeout: 60_000 }).toEqual(["url"]);
  expect((await ops.list())[0]).toMatchObject({ state: "held" });
  await ops.allow(row!.id);
  await call;
});

test("a gateway that belongs to its client alone refuses at once", async () => {
  const web = await startScripted({ name: "web" });
  const folder = mkdtempSync(join(tmpdir(), "alone-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "goblin.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { web: web.entry }, policy: { rules: [askAdd] } }));
  const env = { ...process.env, XDG_STATE_HOME: folder } as Record<string, string>;
  const { client } = await connectV1({ command: process.execPath, args: [PROGRAM, "stdio", "--config", file], env });
  const words = await client.callTool(add).catch((error: Error) => error.message);
  expect(words).toContain("nobody can give it here");
  expect(words).toContain("goblin stdio --attach");
  expect(await runsOf(web)).toEqual([]);
});
