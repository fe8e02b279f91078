/**
 * The front uses three members that Node does not document. A Node that has renamed one of them, or
 * whose parser works in another way, serves the same calls.
 */
import { IncomingMessage } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { JSON_HEADERS } from "../../../src/front/http/exchange.ts";
import { DirectRequest } from "../../../src/front/http/node/direct-request.ts";
import { hasFastPath, testFastPath } from "../../../src/front/http/node/fast-path.ts";
import { nodeMembers, sentBytes } from "../../../src/front/http/node/node-members.ts";
import { answersTo, GET, listen } from "../../fixtures/exchanges.ts";
import { startGoblin } from "../../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../../fixtures/peers.ts";

const names = { ...nodeMembers };
const ownPush = DirectRequest.prototype.push;

afterEach(async () => {
  Object.assign(nodeMembers, names);
  DirectRequest.prototype.push = ownPush;
  await testFastPath(true);
  await disposeAll();
});

test("this Node has what the fast path needs", async () => {
  await testFastPath(true);
  expect(hasFastPath()).toBe(true);
});

const otherNodes: Readonly<Record<string, [change: () => unknown, isFast: boolean]>> = {
  "no text of the head": [() => Object.assign(nodeMembers, { head: "renamed" }), false],
  "no mark for a head that was sent": [() => Object.assign(nodeMembers, { isHeadSent: "renamed" }), false],
  "no handle of a connection": [() => Object.assign(nodeMembers, { handle: "renamed" }), true],
  "a parser that does not push": [
    () => Object.assign(DirectRequest.prototype, { push: IncomingMessage.prototype.push }),
    false,
  ],
};

describe.each(Object.entries(otherNodes))("with %s", (_, [change, isFast]) => {
  beforeEach(async () => {
    change();
    await testFastPath(true);
  });

  test("calls and lists are answered", async () => {
    expect(hasFastPath()).toBe(isFast);
    const one = await startScripted({ name: "one" });
    const goblin = await startGoblin({ mcpServers: { one: one.entry } });
    const raw = rawHttp(goblin.url);
    await raw.initialize();
    for (const text of ["short", "é".repeat(30_000), "x".repeat(600_000)]) {
      const { message } = await raw.call("tools/call", { name: "one_echo", arguments: { text } });
      expect(message.result.content).toEqual([{ type: "text", text: `{"text":"${text}"}` }]);
    }
    expect((await raw.call("tools/list")).message.result.tools.length).toBeGreaterThan(0);
  });

  test("pipelined answers keep their order and their bytes", async () => {
    let asked = 0;
    const { port } = await listen((x) => {
      const n = ++asked;
      setTimeout(() => x.reply(200, JSON_HEADERS, JSON.stringify({ n })), n === 1 ? 50 : 0);
    });
    const got = await answersTo(port, GET.repeat(3));
    await until(() => got().endsWith('{"n":3}'));
    expect(got().match(/HTTP\/1\.1 200 OK\r\n/g)).toHaveLength(3);
    expect(got().match(/\{.*?\}/g)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
  });
});

test("without a handle, the bytes that were sent are those that Node counts as written", async () => {
  nodeMembers.handle = "renamed";
  const counts: number[] = [];
  const { port } = await listen((x, response) => {
    const { socket } = response;
    x.onDone(() => setImmediate(() => counts.push(sentBytes(socket!))));
    x.reply(200, JSON_HEADERS, "{}");
  });
  const got = await answersTo(port, GET);
  await until(() => counts.length === 1 && got().endsWith("{}"));
  expect(counts).toEqual([Buffer.byteLength(got())]);
});
