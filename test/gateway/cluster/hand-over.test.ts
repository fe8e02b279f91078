/**
 * Sessions at several replicas: a request for a session that another one has reaches it, whole and
 * for its own principal only.
 */
import { afterEach, describe, expect, it } from "vitest";
import { connectV1, disposeAll, type RawHttp, rawHttp, startScripted, until } from "../../fixtures/peers.ts";
import { type Replicas, startReplicas } from "../../fixtures/replicas.ts";
import { stateless } from "../../matrix/stateless.ts";

afterEach(disposeAll);

/** The same client at each replica. */
function everywhere({ all }: Replicas, headers: Record<string, string>): RawHttp[] {
  return all.map(({ url }) => Object.assign(rawHttp(url), { headers }));
}

async function opened(replicas: Replicas, token?: string): Promise<RawHttp[]> {
  const raw = rawHttp(replicas.all[0]!.url);
  if (token !== undefined) raw.headers["authorization"] = `Bearer ${token}`;
  await raw.initialize();
  return everywhere(replicas, raw.headers);
}

const echo = (text: string) => ({ name: "one_echo", arguments: { text } });

describe("a session", () => {
  it("is one session everywhere, with its one connection to a server", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const replicas = await startReplicas(3, { mcpServers: { one: { ...server.entry, share: "session" } } });
    const clients = await opened(replicas);
    const answers = [];
    for (const raw of clients) answers.push(await raw.call("tools/call", { name: "one_whoami", arguments: {} }));
    const connections = answers.map(({ message }) => message.result.structuredContent.connection);
    expect(new Set(connections).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("ends everywhere", async () => {
    const replicas = await startReplicas(3, { mcpServers: {} });
    const clients = await opened(replicas);
    for (const raw of clients) expect((await raw.call("ping")).status).toBe(200);
    expect((await clients[2]!.delete()).status).toBe(204);
    for (const raw of clients) {
      const answer = await raw.call("ping");
      expect([answer.status, answer.message.error.message]).toEqual([404, expect.stringMatching(/^Session not found/)]);
    }
  });

  it("stays its principal's, at whichever replica another one asks", async () => {
    const auth = { tokens: ["token-of-ada", "token-of-bob"] };
    const replicas = await startReplicas(3, { mcpServers: {}, gateway: { auth } });
    const clients = await opened(replicas, "token-of-ada");
    const { headers } = clients[0]!;
    for (const [token, status] of [
      ["token-of-bob", 404],
      ["token-of-eve", 401],
      ["token-of-ada", 200],
    ] as const) {
      const others = everywhere(replicas, { ...headers, authorization: `Bearer ${token}` });
      for (const raw of others) expect((await raw.call("ping")).status).toBe(status);
    }
    for (const raw of everywhere(replicas, { ...headers, authorization: "Bearer token-of-bob" })) {
      expect((await raw.delete()).status).toBe(404);
      expect((await raw.stream({ verb: "GET" })).status).toBe(404);
    }
    for (const raw of clients) expect((await raw.call("ping")).status).toBe(200);
  });

  it("keeps its streams: what is said while one is broken is read at another replica", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const replicas = await startReplicas(3, { mcpServers: { one: server.entry } });
    const [first, second, third] = await opened(replicas);
    await second!.call("resources/subscribe", { uri: "one+text:///hello" });
    const stream = await third!.stream({ verb: "GET" });
    await server.control("touch", { uri: "text:///hello" });
    await stream.next(({ method }) => method === "notifications/resources/updated");
    const lastId = stream.events.at(-1)!.id!;
    await stream.close();
    // The owner learns of the end through the replica that had the stream.
    await until(() => replicas.all[2]!.gateway.cluster()!.handedOver === 0, { what: "the end of the hand-over" });
    await server.control("touch", { uri: "text:///hello" });
    const again = await second!.stream({ verb: "GET", headers: { "last-event-id": lastId } });
    await again.next(({ method }) => method === "notifications/resources/updated");
    expect(again.events).toHaveLength(1);
    await again.close();
    expect((await first!.call("ping")).status).toBe(200);
  });

  it("takes large bodies in full, and refuses those that are too large, wherever they arrive", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const limits = { bodyBytes: 600_000 };
    const replicas = await startReplicas(2, { mcpServers: { one: server.entry }, limits });
    const [, away] = await opened(replicas);
    const text = "ä".repeat(200_000);
    const { message } = await away!.call("tools/call", echo(text));
    expect(message.result.structuredContent.text).toBe(text);
    const refused = await away!.call("tools/call", echo("x".repeat(700_000)));
    expect(refused.status).toBe(200);
    expect(refused.message.error).toMatchObject({ code: -32010, message: expect.stringContaining("limits.bodyBytes") });
  });

  it("goes on at another replica when its own has ended", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const replicas = await startReplicas(3, { mcpServers: { one: server.entry } });
    const [, second, third] = await opened(replicas);
    await second!.call("tools/call", echo("before"));
    await replicas.all[0]!.gateway.close();
    for (const raw of [second!, third!]) {
      const { message } = await raw.call("tools/call", echo("after"));
      expect(message.result.structuredContent).toEqual({ text: "after" });
    }
  });

  it("is felt as one by a client of the SDK whose every request goes elsewhere", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const replicas = await startReplicas(3, { mcpServers: { one: server.entry } });
    const elicitation = () => ({ action: "accept", content: { name: "Ada" } });
    const { client, errors } = await connectV1({ url: replicas.url, elicitation });
    for (let i = 0; i < 6; i++) {
      const answer = await client.callTool({ name: "one_ask", arguments: { kind: "elicitation" } });
      const [block] = answer.content as { text: string }[];
      expect(JSON.parse(block!.text)).toEqual({ action: "accept", content: { name: "Ada" } });
    }
    expect(Math.min(...replicas.counts)).toBeGreaterThan(2);
    expect(errors).toEqual([]);
  });
});

describe("a client without a session", () => {
  it("answers a question at another replica, once, and only as itself", async () => {
    const server = await startScripted({ name: "one", transport: "http" });
    const auth = { tokens: ["token-of-ada", "token-of-bob"] };
    const replicas = await startReplicas(3, { mcpServers: { one: server.entry }, gateway: { auth } });
    const as = (token: string) =>
      replicas.all.map(({ url }) => stateless(url, { token, capabilities: { elicitation: { form: {} } } }));
    const ada = as("token-of-ada");
    const params = { name: "one_ask", arguments: { kind: "elicitation" } };
    const first = await ada[0]!.call("tools/call", params);
    const { inputRequests, requestState } = first.message.result;
    const [key] = Object.keys(inputRequests);
    const inputResponses = { [key!]: { action: "accept", content: { name: "Ada" } } };
    const again = { ...params, inputResponses, requestState };
    for (const bob of as("token-of-bob"))
      expect((await bob.call("tools/call", again)).message.error.message).toBe(
        "requestState is not valid for this request",
      );
    const { message } = await ada[2]!.call("tools/call", again);
    expect(JSON.parse(message.result.content[0].text)).toEqual({ action: "accept", content: { name: "Ada" } });
    for (const raw of ada)
      expect((await raw.call("tools/call", again)).message.error.message).toBe(
        "requestState was used already, or its call is over",
      );
    await replicas.all[0]!.gateway.close();
    expect((await ada[1]!.call("tools/call", again)).message.error.message).toBe(
      "requestState was used already, or its call is over",
    );
  });
});
