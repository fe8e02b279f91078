/**
 * A server's questions in the middle of a call, between the eras: a client of 2026-07-28 gets them
 * as its answer and repeats its request, a client with a session is asked; a server of 2026-07-28
 * answers with them, one with a handshake asks. The state that a client brings back is worth
 * nothing to anybody else, at any other time, or twice.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type RunningGoblin, startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, type Scripted, startScripted, until } from "../fixtures/peers.ts";
import { startReplicas } from "../fixtures/replicas.ts";
import { connectSpeaker } from "./speakers.ts";
import { type Stateless, stateless } from "./stateless.ts";
import type { Message } from "./wires.ts";

const [ADA, BOB] = ["token-of-ada", "token-of-bob"];
const elicitation = { form: {}, url: {} };
const say = (name: string) => ({ action: "accept", content: { name } });

let server: Scripted;
let goblin: RunningGoblin;
let ada: Stateless;
let bob: Stateless;

beforeEach(async () => {
  server = await startScripted({ transport: "http", name: "old" });
  goblin = await startGoblin({ mcpServers: { old: server.entry }, gateway: { auth: { tokens: [ADA, BOB] } } });
  ada = stateless(goblin.url, { token: ADA!, capabilities: { elicitation } });
  bob = stateless(goblin.url, { token: BOB!, capabilities: { elicitation } });
});
afterEach(async () => {
  vi.useRealTimers();
  await disposeAll();
});

const ask = (rounds = 1) => ({ name: "old_ask", arguments: { kind: "elicitation", rounds } });
const textOf = (message: Message) => message.result.content[0].text;

/** Begins a call and answers with its first question. */
async function asked(params: Record<string, unknown> = ask(), who = ada) {
  const { message } = await who.call("tools/call", params);
  const { resultType, inputRequests, requestState } = message.result;
  expect(resultType).toBe("input_required");
  const [key] = Object.keys(inputRequests);
  return { key: key!, requestState: requestState as string, question: inputRequests[key!] };
}

const retry = (state: string, key: string, params: Record<string, unknown> = ask(), who = ada) =>
  who.call("tools/call", { ...params, inputResponses: { [key]: say("Ada") }, requestState: state });

describe("a server with a handshake asks a client without one", () => {
  test("round by round, with another state each time; the server sees one call", async () => {
    const states: string[] = [];
    let { key, requestState, question } = await asked(ask(3));
    expect(question).toMatchObject({ method: "elicitation/create", params: { message: "What is your name?" } });
    for (;;) {
      states.push(requestState);
      const inputResponses = { [key]: say(`round ${states.length}`) };
      const { message } = await ada.call("tools/call", { ...ask(3), inputResponses, requestState });
      if (message.result.resultType === "complete") {
        expect(JSON.parse(textOf(message))).toEqual([say("round 1"), say("round 2"), say("round 3")]);
        break;
      }
      [key, requestState] = [Object.keys(message.result.inputRequests)[0]!, message.result.requestState];
    }
    expect(new Set(states).size).toBe(3);
    expect(await server.received("tools/call")).toHaveLength(1);
    expect(JSON.stringify(await server.log())).not.toContain("requestState");
  });

  test.each([
    ["prompts/get", { name: "old_interview" }, (result: Message) => result.messages[0].content.text],
    ["resources/read", { uri: "old+ask:///elicitation" }, (result: Message) => result.contents[0].text],
  ] as const)("also during %s", async (method, params, read) => {
    const first = await ada.call(method, params);
    const { inputRequests, requestState } = first.message.result;
    const inputResponses = { [Object.keys(inputRequests)[0]!]: say("Ada") };
    const { message } = await ada.call(method, { ...params, inputResponses, requestState });
    expect(JSON.parse(read(message.result))).toEqual(say("Ada"));
  });

  test("an answer that is left out is asked for again", async () => {
    const { requestState } = await asked();
    const { message } = await ada.call("tools/call", { ...ask(), requestState });
    expect(message.result.resultType).toBe("input_required");
    expect(message.result.requestState).not.toBe(requestState);
    const [key] = Object.keys(message.result.inputRequests);
    expect(JSON.parse(textOf((await retry(message.result.requestState, key!)).message))).toEqual(say("Ada"));
  });

  test("the client's answer may be no", async () => {
    const { key, requestState } = await asked();
    const inputResponses = { [key]: { action: "decline" } };
    const { message } = await ada.call("tools/call", { ...ask(), inputResponses, requestState });
    expect(JSON.parse(textOf(message))).toEqual({ action: "decline" });
  });

  test("a client that did not say that it can answer is not asked", async () => {
    const { message } = await ada.call("tools/call", ask(), { capabilities: {} });
    expect(JSON.parse(textOf(message))).toMatchObject({ error: { code: -32601 } });
  });

  test("through call_tool as well", async () => {
    const params = { name: "call_tool", arguments: { name: "old_ask", arguments: { kind: "elicitation" } } };
    const { key, requestState } = await asked(params);
    expect(JSON.parse(textOf((await retry(requestState, key, params)).message))).toEqual(say("Ada"));
  });
});

describe("the state", () => {
  const refused = async (answer: Promise<{ message: Message }>, why = /requestState/) => {
    const { message } = await answer;
    expect(message.error).toMatchObject({ code: -32602, message: expect.stringMatching(why) });
  };
  const answersToServer = async () => (await server.log()).filter((r) => r.dir === "in" && r.message?.result).length;

  test("of another caller, another call, or none of ours: refused, and the server hears nothing", async () => {
    const { key, requestState } = await asked();
    await refused(retry(requestState, key, ask(), bob));
    await refused(retry(requestState, key, ask(2)));
    await refused(retry(requestState, key, { name: "old_echo", arguments: ask().arguments }));
    await refused(retry("made up", key));
    expect(await answersToServer()).toBe(0);
    expect(JSON.parse(textOf((await retry(requestState, key)).message))).toEqual(say("Ada"));
  });

  test("tampered with, at any place: refused", async () => {
    const { key, requestState } = await asked();
    const flip = (at: number) => {
      const other = requestState[at] === "A" ? "B" : "A";
      return requestState.slice(0, at) + other + requestState.slice(at + 1);
    };
    // The last character may carry bits that mean nothing.
    for (const at of [7, 12, 25, 40, 60, requestState.length - 2]) await refused(retry(flip(at), key));
    await refused(retry(requestState.slice(0, -4), key));
    await refused(retry(`${requestState.slice(0, 7)}`, key));
    expect(await answersToServer()).toBe(0);
  });

  test("of an earlier round, or of a call that is over: refused", async () => {
    const first = await asked(ask(2));
    const { message } = await retry(first.requestState, first.key, ask(2));
    const second = { key: Object.keys(message.result.inputRequests)[0]!, state: message.result.requestState };
    await refused(retry(first.requestState, first.key, ask(2)), /used already/);
    await retry(second.state, second.key, ask(2));
    await refused(retry(second.state, second.key, ask(2)), /used already/);
    expect(await answersToServer()).toBe(2);
  });

  test("used twice at the same time: one is refused", async () => {
    const { key, requestState } = await asked();
    const both = await Promise.all([retry(requestState, key), retry(requestState, key)]);
    expect(both.filter(({ message }) => message.error?.code === -32602)).toHaveLength(1);
    expect(both.filter(({ message }) => message.result?.resultType === "complete")).toHaveLength(1);
    expect(await answersToServer()).toBe(1);
  });

  test("after its time: refused", async () => {
    const { key, requestState } = await asked();
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(Date.now() + 10 * 60_000 + 1);
    await refused(retry(requestState, key), /expired/);
  });

  test("of a gateway that was started anew: refused", async () => {
    const { key, requestState } = await asked();
    const other = await startGoblin({ mcpServers: { old: server.entry }, gateway: { auth: { tokens: [ADA] } } });
    const again = stateless(other.url, { token: ADA!, capabilities: { elicitation } });
    await refused(retry(requestState, key, ask(), again));
  });
});

test("a call that nobody comes back for is cancelled at the server", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  await asked();
  expect(await server.events("cancelled")).toEqual([]);
  vi.advanceTimersByTime(10 * 60_000 + 1);
  vi.useRealTimers();
  await server.waitFor((r) => r.event === "aborted" && r["name"] === "ask");
});

test("a client that breaks off cancels the call, but not while nothing is waited for", async () => {
  server.setScript({ rules: [{ method: "tools/call", name: "ask", do: "late", ms: 5000 }] });
  const { key, requestState } = await asked();
  await sleep(100);
  expect(await server.events("cancelled")).toEqual([]);
  const params = { ...ask(), inputResponses: { [key]: say("Ada") }, requestState };
  const { breakOff } = ada.begin("tools/call", params);
  await until(async () => (await server.log()).some((r) => r.dir === "in" && r.message?.result));
  breakOff();
  await server.waitFor((r) => r.event === "cancelled" && r["running"]);
});

describe("a server without a handshake asks", () => {
  let modern: Scripted;
  let through: RunningGoblin;
  beforeEach(async () => {
    modern = await startScripted({ transport: "http", era: "modern", name: "new" });
    through = await startGoblin({ mcpServers: { new: modern.entry } });
  });
  const call = { name: "new_ask", arguments: { kind: "elicitation", rounds: 2 } };

  test("a client with a session: by real requests, and the call is repeated with new ids and the server's own states", async () => {
    const speaker = await connectSpeaker({ goblin: through, version: "2025-11-25", way: "http", name: "ada" });
    expect(JSON.parse(textOf(await speaker.request("tools/call", call)))).toEqual([say("ada"), say("ada")]);
    const calls = (await modern.received("tools/call")).map((r) => r.message);
    const states = (await modern.log()).flatMap((r) => r.message?.result?.requestState ?? []);
    expect(calls.map((c) => c.params.requestState)).toEqual([undefined, ...states]);
    expect(calls.map((c) => c.params.inputResponses)).toEqual([
      undefined,
      { "elicitation-1": say("ada") },
      { "elicitation-2": say("ada") },
    ]);
    expect(new Set(calls.map((c) => c.id)).size).toBe(3);
  });

  test("a client without one: its questions pass as they are, and its state is sealed (A-H7)", async () => {
    const client = stateless(through.url, { capabilities: { elicitation } });
    const { message } = await client.call("tools/call", call);
    const [{ message: said }] = (await modern.log()).filter((r) => r.message?.result?.requestState) as [Message];
    expect(message.result.requestState).toMatch(/^goblin-server\.[\w-]+$/);
    expect(message.result.requestState).not.toContain(said.result.requestState);
    expect(message.result.inputRequests).toEqual(said.result.inputRequests);
  });

  test("a client that cannot answer: the error names what it needs, with status 400", async () => {
    const { status, message } = await stateless(through.url).call("tools/call", call);
    expect([status, message.error.code]).toEqual([400, -32021]);
    expect(message.error.data.requiredCapabilities).toEqual({ elicitation: {} });
  });

  test("a client with a session that gives up while it is asked: nothing is repeated", async () => {
    const raw = rawHttp(through.url);
    await raw.initialize("2025-11-25", { elicitation });
    const stream = await raw.stream({ body: { jsonrpc: "2.0", id: 5, method: "tools/call", params: call } });
    await stream.next((m) => m.method === "elicitation/create");
    await raw.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } });
    await until(() => stream.ended);
    expect(await modern.received("tools/call")).toHaveLength(1);
  });

  test("a client with a session that never answers is not waited for longer than maxCallMs", async () => {
    const timeouts = { callMs: 1000, maxCallMs: 1500 };
    const short = await startGoblin({ mcpServers: { new: modern.entry }, timeouts });
    const raw = rawHttp(short.url);
    await raw.initialize("2025-11-25", { elicitation });
    const stream = await raw.stream({ body: { jsonrpc: "2.0", id: 5, method: "tools/call", params: call } });
    await stream.next((m) => m.method === "elicitation/create");
    const { error } = await stream.next((m) => m.id === 5);
    expect(error).toMatchObject({ code: -32001, data: { code: "TIMEOUT", serverId: "new", timeoutMs: 1500 } });
    expect(error.message).toContain("timeouts.maxCallMs");
    expect(await modern.received("tools/call")).toHaveLength(1);
  });
});

describe("the state of a server without a handshake (A-H7)", () => {
  const OWN = 'state-1 "é\\u00e9" {"n":9007199254740993}';
  const VIA = { alpha: { servers: ["new"] }, beta: { servers: ["new"] } };
  let modern: Scripted;
  let through: RunningGoblin;
  const asks = (requestState: unknown = OWN) => ({
    resultType: "input_required",
    inputRequests: { one: { method: "elicitation/create", params: { message: "Sure?" } } },
    requestState,
  });
  const raw = (more: Record<string, unknown> = {}) => ({ name: "new_raw", arguments: { result: asks(), ...more } });
  const start = (config: Record<string, unknown> = {}) =>
    startGoblin({
      mcpServers: { new: modern.entry, twin: modern.entry },
      profiles: VIA,
      gateway: { auth: { tokens: [ADA, BOB] } },
      ...config,
    });
  const as = (token: string, url = through.url) => stateless(url, { token, capabilities: { elicitation } });
  const inputResponses = { one: say("Ada") };
  const received = async () => (await modern.received("tools/call")).map((r) => r.message.params.requestState);
  const stateOf = async (client: Stateless, params: Record<string, unknown> = raw()) =>
    (await client.call("tools/call", params)).message.result.requestState as string;
  const NOT_VALID = { code: -32602, message: "requestState is not valid for this request" };

  beforeEach(async () => {
    modern = await startScripted({ transport: "http", era: "modern", name: "new" });
    through = await start();
  });

  test("goes back to the server byte for byte, round by round", async () => {
    const client = as(ADA!);
    const first = await stateOf(client);
    const { message } = await client.call("tools/call", { ...raw(), inputResponses, requestState: first });
    const { requestState: second } = message.result;
    expect(second).not.toBe(first);
    await client.call("tools/call", { ...raw(), inputResponses, requestState: second });
    expect(await received()).toEqual([undefined, OWN, OWN]);
    const texts = (await modern.received("tools/call")).map((r) => r.message.params.inputResponses);
    expect(texts).toEqual([undefined, inputResponses, inputResponses]);
  });

  test("is refused for another principal, endpoint, tool, server or arguments, and the server hears nothing", async () => {
    const ada = as(ADA!);
    const requestState = await stateOf(ada);
    const retried = { inputResponses, requestState };
    const moved: [Stateless, Record<string, unknown>][] = [
      [as(BOB!), raw()],
      [as(ADA!, `${through.url}/p/alpha`), raw()],
      [ada, { ...raw(), name: "new_echo" }],
      [ada, { ...raw(), name: "twin_raw" }],
      [ada, raw({ more: 1 })],
      [ada, { name: "call_tool", arguments: { name: "new_echo", arguments: raw().arguments } }],
    ];
    for (const [client, params] of moved) {
      const { message } = await client.call("tools/call", { ...params, ...retried });
      expect(message.error, JSON.stringify(params)).toMatchObject(NOT_VALID);
    }
    const prompt = await ada.call("prompts/get", { name: "new_greet", ...retried });
    expect(prompt.message.error.code).toBe(-32602);
    expect(await received()).toEqual([undefined]);
    await ada.call("tools/call", { ...raw(), ...retried });
    expect(await received()).toEqual([undefined, OWN]);
  });

  test("is bound to an endpoint: that of one profile is unknown at another", async () => {
    const [alpha, beta] = ["alpha", "beta"].map((name) => as(ADA!, `${through.url}/p/${name}`)) as [
      Stateless,
      Stateless,
    ];
    const requestState = await stateOf(alpha);
    for (const other of [beta, as(ADA!)]) {
      const { message } = await other.call("tools/call", { ...raw(), inputResponses, requestState });
      expect(message.error).toMatchObject(NOT_VALID);
    }
    await alpha.call("tools/call", { ...raw(), inputResponses, requestState });
    expect(await received()).toEqual([undefined, OWN]);
  });

  test("is refused if it is guessed, the server's own, altered, cut, or of another form", async () => {
    const ada = as(ADA!);
    const state = await stateOf(ada);
    const flipped = [...Array(12).keys()].map((n) => {
      const at = 14 + Math.floor(((state.length - 15) * n) / 11);
      return state.slice(0, at) + (state[at] === "A" ? "B" : "A") + state.slice(at + 1);
    });
    const parked = await asked();
    const forged = [
      OWN,
      "state-1",
      "",
      "goblin-server.",
      "goblin.",
      `goblin.${state.slice(14)}`,
      `${state}=`,
      `${state}A`,
      ` ${state}`,
      state.slice(0, -1),
      state.slice(0, 40),
      state.slice(14),
      parked.requestState,
      `goblin-server.${parked.requestState.slice(7)}`,
      5,
      null,
      true,
      {},
      [state],
      ...flipped,
    ];
    for (const requestState of forged) {
      const { message } = await ada.call("tools/call", { ...raw(), inputResponses, requestState });
      expect(message.error, JSON.stringify(requestState)).toMatchObject(NOT_VALID);
    }
    expect(await received()).toEqual([undefined]);
  });

  test("of a client with a session, which brings one that it guessed or that leaked: refused", async () => {
    const state = await stateOf(as(ADA!));
    const bob = rawHttp(through.url);
    bob.headers["authorization"] = `Bearer ${BOB}`;
    await bob.initialize("2025-11-25", { elicitation });
    for (const requestState of [OWN, "state-1", state]) {
      const { message } = await bob.call("tools/call", { ...raw(), inputResponses, requestState });
      expect(message.error).toMatchObject(NOT_VALID);
    }
    expect(await received()).toEqual([undefined]);
  });

  test("counts numbers as they are written, and not the order of members", async () => {
    const post = async (args: string, requestState?: string): Promise<Message> => {
      const meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`;
      const more = requestState === undefined ? "" : `,"requestState":${JSON.stringify(requestState)}`;
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"new_raw","arguments":${args}${more},"_meta":${meta}}}`;
      const answer = await fetch(through.url, {
        method: "POST",
        headers: {
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          authorization: `Bearer ${ADA}`,
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "new_raw",
        },
        body,
      });
      const text = await answer.text();
      return JSON.parse(text.startsWith("{") ? text : text.slice(text.indexOf("{")));
    };
    const result = JSON.stringify(asks());
    const { result: first } = await post(`{"n":9007199254740993,"result":${result}}`);
    const refused = await post(`{"n":9007199254740992,"result":${result}}`, first.requestState);
    expect(refused.error).toMatchObject(NOT_VALID);
    const again = await post(`{ "result": ${result}, "n": 9007199254740993 }`, first.requestState);
    expect(again.result.resultType).toBe("input_required");
    expect(await received()).toEqual([undefined, OWN]);
  });

  test("through call_tool, too, also as a state of another JSON type", async () => {
    const ada = as(ADA!);
    const params = { name: "call_tool", arguments: { name: "new_raw", arguments: { result: asks([1, "two"]) } } };
    const requestState = await stateOf(ada, params);
    await ada.call("tools/call", { ...params, inputResponses, requestState });
    expect(await received()).toEqual([undefined, [1, "two"]]);
  });

  test("in a result of more than a megabyte", async () => {
    const ada = as(ADA!);
    const result = { padding: "x".repeat(1_200_000), ...asks() };
    modern.setScript({ rules: [{ method: "tools/call", name: "echo", do: "result", result }] });
    const params = { name: "new_echo", arguments: {} };
    const requestState = await stateOf(ada, params);
    expect(requestState).toMatch(/^goblin-server\./);
    await ada.call("tools/call", { ...params, inputResponses, requestState });
    expect(await received()).toEqual([undefined, OWN]);
  });

  test("of a member of a plain result is not touched", async () => {
    const params = {
      name: "new_raw",
      arguments: { result: { resultType: "complete", content: [], requestState: "x" } },
    };
    const { message } = await as(ADA!).call("tools/call", params);
    expect(message.result.requestState).toBe("x");
  });

  test("is good at every replica and after a restart, and at no gateway with another key", async () => {
    const config = { mcpServers: { new: modern.entry }, gateway: { auth: { tokens: [ADA, BOB] } } };
    const replicas = await startReplicas(2, config);
    const [one, two] = replicas.all.map(({ url }) => as(ADA!, url)) as [Stateless, Stateless];
    const requestState = await stateOf(one);
    const retried = { ...raw(), inputResponses, requestState };
    const foreign = await as(BOB!, replicas.all[1]!.url).call("tools/call", retried);
    expect(foreign.message.error).toMatchObject(NOT_VALID);
    await replicas.all[0]!.gateway.close();
    await two.call("tools/call", retried);
    expect(await received()).toEqual([undefined, OWN]);
    expect((await as(ADA!).call("tools/call", retried)).message.error).toMatchObject(NOT_VALID);
  });

  test("cannot be smuggled past under another spelling, twice, or through another method", async () => {
    const state = await stateOf(as(ADA!));
    const meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`;
    const send = async (method: string, params: string, headers: Record<string, string> = {}): Promise<string> => {
      const answer = await fetch(through.url, {
        method: "POST",
        headers: {
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          authorization: `Bearer ${BOB}`,
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": method,
          ...headers,
        },
        body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params},"_meta":${meta}}}`,
      });
      return answer.text();
    };
    const args = JSON.stringify(raw().arguments);
    const named = { "mcp-name": "new_raw" };
    const members = [
      String.raw`"request\u0053tate":"state-1"`,
      `"requestState":"state-1","requestState":${JSON.stringify(state)}`,
      String.raw`"requestState":${JSON.stringify(state)},"requestStat\u0065":"state-1"`,
    ];
    for (const member of members)
      expect(await send("tools/call", `"name":"new_raw","arguments":${args},${member}`, named)).toContain("-32602");
    const others: [method: string, name: string, params: string][] = [
      ["prompts/get", "new_greet", `"name":"new_greet","arguments":{"name":"Ada"}`],
      ["resources/read", "new+text:///hello", `"uri":"new+text:///hello"`],
    ];
    for (const [method, name, params] of others)
      expect(await send(method, `${params},"requestState":"state-1"`, { "mcp-name": name })).toContain(
        "requestState is not valid",
      );
    const ref = `"ref":{"type":"ref/prompt","name":"new_greet"},"argument":{"name":"name","value":"A"}`;
    expect(await send("completion/complete", `${ref},"requestState":"state-1"`)).toContain("requestState is not valid");
    expect(JSON.stringify(await modern.received())).not.toContain('"requestState":"state-1"');
    expect(await received()).toEqual([undefined]);
  });

  test("is not touched by masking, and is bound to what the client sent", async () => {
    const secret = `gh${"p_"}${"a1B2".repeat(9)}`;
    const masked = await start({ masking: { arguments: true, results: true }, profiles: undefined });
    const ada = as(ADA!, masked.url);
    modern.setScript({ rules: [{ method: "tools/call", name: "echo", do: "result", result: asks(secret) }] });
    const params = { name: "new_echo", arguments: { key: secret } };
    const requestState = await stateOf(ada, params);
    const other = await ada.call("tools/call", {
      name: "new_echo",
      arguments: { key: "x" },
      inputResponses,
      requestState,
    });
    expect(other.message.error).toMatchObject(NOT_VALID);
    await ada.call("tools/call", { ...params, inputResponses, requestState });
    expect(await received()).toEqual([undefined, secret]);
  });

  test("of a server alone is unknown at the gateway's other endpoints, and the other way round", async () => {
    const own = as(ADA!, `${through.url}/s/new`);
    const params = { name: "raw", arguments: { result: asks() } };
    const requestState = await stateOf(own, params);
    const all = await as(ADA!).call("tools/call", { ...raw(), inputResponses, requestState });
    expect(all.message.error).toMatchObject(NOT_VALID);
    const common = await stateOf(as(ADA!));
    const { message } = await own.call("tools/call", { ...params, inputResponses, requestState: common });
    expect(message.error).toMatchObject(NOT_VALID);
    await own.call("tools/call", { ...params, inputResponses, requestState });
    expect(await received()).toEqual([undefined, undefined, OWN]);
  });
});
