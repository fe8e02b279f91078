/**
 * Calls that become one line: what is read from it is what passed, to the byte, and whatever does
 * not fit has a line for each message.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { memberText, setMember } from "../../../../src/lib/json/json-text.ts";
import { Call, type Client } from "../../../../src/mcp/protocol/call.ts";
import { Flight } from "../../../../src/mcp/protocol/flight.ts";
import { readFrame } from "../../../../src/mcp/protocol/frame.ts";
import { requestText } from "../../../../src/mcp/protocol/json-rpc.ts";
import { exchangesOf } from "../../../../src/observe/recording/exchanges.ts";
import { framesOf, segmentsOf } from "../../../../src/observe/recording/read.ts";
import { Recorder } from "../../../../src/observe/recording/recorder.ts";
import { disposeAll, onDispose, until } from "../../../fixtures/peers.ts";

afterEach(disposeAll);

const PROGRAM = new URL("../../../../dist/observe/recording/recorder-thread.js", import.meta.url);
const client = {
  key: "session-1",
  hasSession: true,
  info: { name: "tést" },
  who: { name: "ada" },
} as unknown as Client;

interface SetUp {
  readonly secrets?: () => readonly string[];
  readonly servers?: string[];
  readonly maxBytes?: number;
}

const NONE: readonly string[] = [];
const SECRETS: readonly string[] = ["hush-hush"];

async function setUp({ secrets = () => NONE, servers = ["*"], maxBytes = 256 * 1024 * 1024 }: SetUp = {}) {
  const dir = mkdtempSync(join(tmpdir(), "goblin-whole-"));
  onDispose(() => rmSync(dir, { recursive: true, force: true }));
  const recorder = new Recorder({
    secrets,
    startThread: (data) => new Worker(PROGRAM, { workerData: data, execArgv: [] }),
    log: { warn: () => {}, info: () => {} },
    meters: { countFrames: () => {} },
    version: "1",
    folder: () => dir,
  });
  await recorder.start({ dir, servers, maxBytes, bodies: true });
  const tap = recorder.tap("one");
  let ids = 0;
  /** Runs a call through the recorder. Returns its messages, as they passed. */
  const run = ({
    params,
    sent,
    received,
    result,
    method = "tools/call",
    emits = [],
    order,
    between,
    client: from = client,
    id: own,
    target,
  }: Passed): string[] => {
    const call = new Call({ method, params: {}, text: params, client: from, emit: () => {} });
    const flight = new Flight(call);
    recorder.began(flight);
    flight.serverId = "one";
    flight.sentAt = performance.now();
    ids = own ?? ids + 1;
    flight.sentId = ids;
    const toServer = sent(ids);
    flight.sentParams = memberText(toServer, "params");
    flight.target = target;
    if (target !== undefined) flight.renamed = setMember(params, "name", JSON.stringify(target));
    tap.sent(toServer, call);
    for (const text of emits) call.emit(text);
    const fromServer = received(ids);
    const bytes = Buffer.from(fromServer);
    tap.received(bytes, undefined);
    between?.();
    const frame = readFrame(bytes);
    if (frame.kind !== "response" || !frame.answer.ok) throw new Error(`no result: ${fromServer}`);
    call.witness?.answered(bytes, frame.answer, frame.shape);
    flight.answeredAt = performance.now();
    const answer = result === undefined ? frame.answer : { ok: true as const, raw: result };
    const end = (): void => recorder.ended(flight, answer, "ok");
    if (order) order.push(end);
    else end();
    const asked = requestText(call.requestId, method, params);
    const answered = `{"jsonrpc":"2.0","id":"${call.requestId}","result":${answer.raw}}`;
    return [asked, toServer, ...emits, fromServer, answered];
  };
  const stop = async () => {
    const state = await recorder.stop();
    const frames = [...framesOf(dir)];
    const lines = segmentsOf(dir).flatMap((file) => readFileSync(file, "utf8").trimEnd().split("\n"));
    return { state, frames, lines };
  };
  return { run, stop, tap, dir };
}

interface Passed {
  readonly params: string;
  readonly sent: (id: number) => string;
  readonly received: (id: number) => string;
  /** If the gateway changed it. */
  readonly result?: string;
  readonly method?: string;
  readonly emits?: readonly string[];
  readonly client?: Client;
  /** That the gateway gave the request. */
  readonly id?: number;
  /** The server's own name for the tool, if the gateway found it by name. */
  readonly target?: string;
  /** Runs after the message came, and before it is read. */
  readonly between?: () => void;
  /** Keeps the end of the call for later. */
  readonly order?: (() => void)[];
}

/** A call that fits into one line. */
const plain = (text = "hi", more: Partial<Passed> = {}): Passed => {
  const result = JSON.stringify({ content: [{ type: "text", text }] });
  const args = JSON.stringify({ text });
  return {
    params: `{"name":"one_echo","arguments":${args}}`,
    sent: (id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":${args}}}`,
    received: (id) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`,
    ...more,
  };
};

test("a plain call is one line, and its four messages come back with sides, times and names", async () => {
  const { run, stop } = await setUp();
  const messages = run(plain());
  const { state, frames, lines } = await stop();
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({ client: "tést", params: { name: "one_echo" } });
  expect(state).toMatchObject({ frames: 4, lost: 0 });
  expect(frames.map(({ message }) => message)).toEqual(messages);
  expect(frames.map(({ side, dir }) => `${side} ${dir}`)).toEqual([
    "client in",
    "server out",
    "server in",
    "client out",
  ]);
  expect(frames[1]).toMatchObject({ server: "one", link: 1, method: "tools/call", who: "ada", session: "session-" });
  expect(frames[3]).toMatchObject({ server: "one", outcome: "ok", ms: expect.any(Number) });
  const times = frames.map(({ t }) => t);
  expect(times).toEqual([...times].sort((a, b) => a - b));
});

test("params that the server gets with its own name for the tool are in the line once", async () => {
  const { run, stop } = await setUp();
  const renamed = (id: number, name: string): string => plain().sent(id).split('"echo"').join(JSON.stringify(name));
  const wide = (name: string) => plain("hi", { target: name, sent: (id) => renamed(id, name) });
  const names = ["echo", 'é\u2028"$&', "n".repeat(300)];
  const messages = names.flatMap((name) => run(wide(name)));
  const changed = run(plain("hi", { target: "echo", sent: (id) => plain("else").sent(id) }));
  const { frames, lines } = await stop();
  expect(lines.map((line) => line.split('"arguments"').length - 1)).toEqual([1, 2, 1, 2]);
  expect(frames.map(({ message }) => message)).toEqual([...messages, ...changed]);
});

test("answers that arrive together, in any order and alike, go to their own calls", async () => {
  const { run, stop } = await setUp();
  const order: (() => void)[] = [];
  const passed = Array.from({ length: 50 }, () => run(plain("same", { order })));
  for (const end of order.reverse()) end();
  const { frames, lines } = await stop();
  expect(lines).toHaveLength(50);
  for (const messages of passed) {
    const { call } = frames.find(({ message }) => message === messages[0])!;
    expect(frames.filter((frame) => frame.call === call).map(({ message }) => message)).toEqual(messages);
  }
});

test("a result first, and params that the server gets unchanged, are one line as well", async () => {
  const { run, stop } = await setUp();
  const first = run(
    plain("a", { received: (id) => `{"result":{"content":[{"type":"text","text":"a"}]},"jsonrpc":"2.0","id":${id}}` }),
  );
  const params = '{"taskId":"7"}';
  const received = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":{}}`;
  const same = run({ params, sent: (id) => requestText(id, "x/y", params), received, method: "x/y" });
  const { frames, lines } = await stop();
  expect(lines).toHaveLength(2);
  expect(frames.map(({ message }) => message)).toEqual([...first, ...same]);
});

const spaced = (text: string): string => text.replace(/([,:{])/g, "$1 ");
const RESULT = '"result":{"content":[{"type":"text","text":"hi"}]}';
const different: Readonly<Record<string, Partial<Passed>>> = {
  "an answer with spaces": { received: (id) => spaced(plain().received(id)) },
  "an answer whose result was changed": { result: '{"content":[]}' },
  "an answer with another member": { received: (id) => `{"a":1,${plain().received(id).slice(1)}` },
  "an answer with an empty error": { received: (id) => `${plain().received(id).slice(0, -1)},"error":null}` },
  "an answer with the id first": { received: (id) => `{"id":${id},"jsonrpc":"2.0",${RESULT}}` },
  "an answer with the id last": { received: (id) => `{"jsonrpc":"2.0",${RESULT},"id":${id}}` },
  "an answer with the version last": { received: (id) => `{${RESULT},"id":${id},"jsonrpc":"2.0"}` },
  "an answer with the id first, and the version last": { received: (id) => `{"id":${id},${RESULT},"jsonrpc":"2.0"}` },
  "an answer with another form of the id": { received: (id) => `{"jsonrpc":"2.0","id":${id}.0,${RESULT}}` },
  "an answer with an id that is as long in another form": {
    id: 100,
    received: () => `{"jsonrpc":"2.0","id":1e2,${RESULT}}`,
  },
  "an answer with an id that leaves room for a space": {
    id: 1000,
    received: () => `{${RESULT} ,"jsonrpc":"2.0","id":1e3}`,
  },
  "a long method": {
    method: "m".repeat(300),
    sent: (id) => requestText(id, "m".repeat(300), '{"name":"echo","arguments":{"text":"hi"}}'),
  },
};

test.each(Object.entries(different))("%s: a line for each message", async (_, more) => {
  const { run, stop } = await setUp();
  const messages = run(plain("hi", more));
  const { frames, lines, state } = await stop();
  expect(lines).toHaveLength(4);
  expect(state).toMatchObject({ frames: 4, lost: 0 });
  expect(frames.map(({ message }) => message)).toEqual(messages);
});

test("a secret in any part is masked, and the messages without it keep their bytes", async () => {
  const { run, stop } = await setUp({ secrets: () => SECRETS });
  const asked = run(plain("the hush-hush word"));
  const named = run(plain("hi", { sent: (id) => plain().sent(id).replace('"echo"', '"hush-hush"') }));
  const { frames, lines, state } = await stop();
  expect(state).toMatchObject({ frames: 8, lost: 0 });
  expect(lines.join("\n")).not.toContain("hush-hush");
  expect(frames.map(({ message }) => message)).toEqual(
    [...asked, ...named].map((text) => text.replace("hush-hush", "[hidden]")),
  );
  expect(frames.map(({ masked }) => masked ?? false)).toEqual([true, true, true, true, false, true, false, false]);
});

test("wide texts, and names that make a line long, keep their bytes", async () => {
  const name = "é".repeat(200);
  const other = { ...client, info: { name }, who: { name } } as unknown as Client;
  const { run, stop } = await setUp();
  const messages = [...run(plain("語".repeat(700), { client: other })), ...run(plain("語".repeat(700)))];
  const { frames, lines } = await stop();
  expect(lines.map((line) => line.length > 4096)).toEqual([true, false]);
  expect(frames.map(({ message }) => message)).toEqual(messages);
});

test("a secret in the name of a client is hidden, also one that becomes known later", async () => {
  let known = SECRETS;
  const { run, stop } = await setUp({ secrets: () => known });
  const names = (name: string): Client => ({ ...client, info: { name }, who: { name } }) as unknown as Client;
  const one = names("a hush-hush name");
  const other = names("a later name");
  run(plain("hi", { client: one }));
  run(plain("hi", { client: other }));
  known = ["hush-hush", "later"];
  run(plain("hi", { client: other }));
  const { frames, lines } = await stop();
  expect(lines.join()).not.toContain("hush-hush");
  expect(lines.at(-1)).not.toContain("later");
  expect(frames.at(0)).toMatchObject({ client: "a [hidden] name", who: "a [hidden] name" });
  expect(frames.at(-1)).toMatchObject({ client: "a [hidden] name", who: "a [hidden] name" });
});

test("a call that takes long is in the recording before it ends", async () => {
  const { run, stop, dir } = await setUp();
  const order: (() => void)[] = [];
  const messages = run(plain("slow", { order }));
  await until(() => readdirSync(dir).length > 1 && [...framesOf(dir)].length === 3);
  order[0]!();
  const { frames, lines } = await stop();
  expect(lines).toHaveLength(4);
  expect(frames.map(({ message }) => message)).toEqual(messages);
});

test("an answer that is not the newest message stays a message by itself", async () => {
  const { run, stop, tap } = await setUp();
  const message = Buffer.from('{"jsonrpc":"2.0","method":"notifications/message","params":{}}');
  const messages = run(plain("hi", { between: () => tap.received(message, undefined) }));
  const { frames, lines } = await stop();
  expect(lines).toHaveLength(5);
  expect(frames.map((frame) => frame.message)).toEqual([...messages.slice(0, 3), message.toString(), messages[3]]);
});

test("a call that is in the segment after its notification comes before it all the same", async () => {
  const { run, stop, dir } = await setUp({ maxBytes: 64 * 1024 });
  const order: (() => void)[] = [];
  for (let n = 0; n < 25; n++) run(plain("x".repeat(500), { order, emits: [`{"method":"n","params":{"n":${n}}}`] }));
  for (const end of order) end();
  const { frames } = await stop();
  expect(segmentsOf(dir).length).toBeGreaterThan(1);
  expect(exchangesOf(frames).map(({ notifications }) => notifications.length)).toEqual(Array(25).fill(1));
});

test("a recording of some servers has the same messages", async () => {
  const { run, stop } = await setUp({ servers: ["o*"] });
  const messages = run(plain());
  const { frames } = await stop();
  expect(new Set(frames.map(({ message }) => message))).toEqual(new Set(messages));
});

test("whatever passes comes back, to the byte", async () => {
  const json = fc.json({ maxDepth: 2 });
  const blank = fc.constantFrom("", "", " ", "\n", "\t ");
  const name = fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => JSON.stringify(text));
  const given = fc.record({
    json,
    name,
    as: name,
    blank,
    isFirst: fc.boolean(),
    isNamed: fc.boolean(),
    isRouted: fc.boolean(),
    emits: fc.array(json, { maxLength: 2 }),
  });
  const { run, stop } = await setUp();
  const passed: string[] = [];
  const samples = fc.sample(given, 400);
  for (const { json: value, name: known, as, blank: gap, isFirst, isNamed, isRouted, emits } of samples) {
    const params = (shown: string): string => `{${gap}"name":${gap}${shown}${gap},"arguments":${value}}`;
    const result = `{"a":${value}${gap}}`;
    passed.push(
      ...run({
        params: params(known),
        sent: (id) => requestText(id, "tools/call", params(isNamed ? as : known)),
        target: JSON.parse(isRouted ? (isNamed ? as : known) : '"another"') as string,
        received: (id) =>
          isFirst
            ? `{"result":${result},"jsonrpc":"2.0","id":${id}}`
            : `{"jsonrpc":"2.0","id":${id},"result":${result}}`,
        emits: emits.map((text) => `{"n":${text}}`),
      }),
    );
  }
  const { frames, state } = await stop();
  expect(state).toMatchObject({ frames: passed.length, lost: 0 });
  const counts = new Map<string, number>();
  for (const message of passed) counts.set(message, (counts.get(message) ?? 0) + 1);
  for (const { message, masked } of frames) if (!masked) counts.set(message!, (counts.get(message!) ?? 0) - 1);
  const missing = [...counts.values()].reduce((sum, count) => sum + Math.abs(count), 0);
  expect(missing).toBe(frames.filter(({ masked }) => masked).length);
  expect(missing).toBeLessThan(passed.length / 10);
});
