/** What a pipe repeats at the next gateway, on streams in memory. */
import { duplexPair, PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Opener } from "../../../../src/app/cli/attach/opener.ts";
import { Pipe } from "../../../../src/app/cli/attach/pipe.ts";
import { NoTunnel, type Tunnel } from "../../../../src/app/cli/attach/tunnel.ts";
import { eachLine } from "../../../fixtures/stdio.ts";
import { eventually } from "../../../fixtures/until.ts";

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/** The gateway's end of each tunnel in turn, and the client's end of the pipe. */
function open() {
  const gateways: { lines: string[]; say(value: unknown): void; go(): void }[] = [];
  let isAway = false;
  const opener: Opener = {
    isBackground: false,
    async open(): Promise<Tunnel> {
      if (isAway) throw new NoTunnel("absent", "nobody");
      const [ours, theirs] = duplexPair();
      const lines: string[] = [];
      eachLine(theirs, (line) => lines.push(line));
      theirs.once("end", () => theirs.end());
      gateways.push({ lines, say: (value) => void theirs.write(textOf(value)), go: () => void theirs.end() });
      return { socket: ours, configKey: "" };
    },
  };
  const [input, output] = [new PassThrough(), new PassThrough()];
  const told: string[] = [];
  eachLine(output, (line) => told.push(line));
  const over = new Pipe({ input, output, opener }).run();
  return {
    told,
    over,
    leave: () => void input.end(),
    away: (value: boolean) => {
      isAway = value;
    },
    say: (value: unknown) => void input.write(textOf(value)),
    gateway: async (n: number) => {
      await eventually(() => expect(gateways.length).toBeGreaterThan(n));
      return gateways[n]!;
    },
  };
}

function textOf(value: unknown): string {
  return `${typeof value === "string" ? value : JSON.stringify({ jsonrpc: "2.0", ...(value as object) })}\n`;
}

const parsed = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as Record<string, unknown>);

test("what a client listens to goes on at the next gateway, and it hears of changed lists", async () => {
  const pipe = open();
  const listen = { id: 7, method: "subscriptions/listen", params: { notifications: { toolsListChanged: true } } };
  pipe.say(listen);
  const first = await pipe.gateway(0);
  await eventually(() => expect(parsed(first.lines)).toMatchObject([listen]));
  const acknowledged = {
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: { toolsListChanged: true }, _meta: { [SUBSCRIPTION]: 7 } },
  };
  first.say(acknowledged);
  await eventually(() => expect(parsed(pipe.told)).toMatchObject([acknowledged]));
  first.say("#draining");
  // The gateway ends it, but the client is not to know.
  first.say({ id: 7, result: { resultType: "complete" } });
  first.go();
  const second = await pipe.gateway(1);
  await eventually(() => expect(parsed(second.lines)).toMatchObject([listen]));
  second.say(acknowledged);
  await eventually(() => expect(pipe.told.length).toBe(2));
  expect(parsed(pipe.told)[1]).toMatchObject({
    method: "notifications/tools/list_changed",
    params: { _meta: { [SUBSCRIPTION]: 7 } },
  });
  // Now it ends indeed.
  second.say({ id: 7, result: { resultType: "complete" } });
  await eventually(() => expect(parsed(pipe.told)[2]).toMatchObject({ id: 7 }));
  pipe.leave();
  await pipe.over;
});

test("a session begins anew with the client's own words, before anything else", async () => {
  const pipe = open();
  const hello = { id: "a", method: "initialize", params: { protocolVersion: "2025-11-25" } };
  const result = { protocolVersion: "2025-11-25", capabilities: { tools: { listChanged: true }, prompts: {} } };
  pipe.say(hello);
  const first = await pipe.gateway(0);
  first.say({ id: "a", result });
  await eventually(() => expect(pipe.told.length).toBe(1));
  pipe.say({ method: "notifications/initialized" });
  pipe.say({ id: 1, method: "logging/setLevel", params: { level: "debug" } });
  pipe.say({ id: 2, method: "resources/subscribe", params: { uri: "x:1" } });
  pipe.say({ id: 3, method: "resources/subscribe", params: { uri: "x:2" } });
  for (const id of [1, 2, 3]) first.say({ id, result: {} });
  pipe.say({ id: 4, method: "resources/unsubscribe", params: { uri: "x:1" } });
  first.say({ id: 4, result: {} });
  first.say({ id: "q", method: "elicitation/create", params: {} });
  await eventually(() => expect(pipe.told.length).toBe(6));
  pipe.say({ id: 5, method: "tools/call", params: {} });
  pipe.say({ id: 6, method: "tools/list" });
  await eventually(() => expect(first.lines.length).toBe(8));
  pipe.away(true);
  first.go();
  await eventually(() => expect(pipe.told.length).toBe(8));
  expect(parsed(pipe.told.slice(6))).toMatchObject([
    { id: 5, error: { code: -32011 } },
    { method: "notifications/cancelled", params: { requestId: "q" } },
  ]);
  pipe.say({ id: 8, method: "tools/call", params: {} });
  // Nobody waits for this answer any more.
  pipe.say({ id: "q", result: {} });
  pipe.away(false);
  const second = await pipe.gateway(1);
  await eventually(() => expect(parsed(second.lines)).toEqual([{ jsonrpc: "2.0", ...hello }]));
  second.say({ id: "a", result });
  await eventually(() => expect(second.lines.length).toBe(6));
  expect(parsed(second.lines.slice(1)).map(({ id, method }) => [id, method])).toEqual([
    [undefined, "notifications/initialized"],
    [1, "logging/setLevel"],
    [3, "resources/subscribe"],
    [6, "tools/list"],
    [8, "tools/call"],
  ]);
  for (const id of [1, 3, 6, 8]) second.say({ id, result: {} });
  await eventually(() => expect(pipe.told.length).toBe(11));
  expect(parsed(pipe.told.slice(8)).map(({ id, method }) => id ?? method)).toEqual([
    "notifications/tools/list_changed",
    6,
    8,
  ]);
  pipe.leave();
  await pipe.over;
});

test("a request that a leaving gateway refused goes to the next one", async () => {
  const pipe = open();
  pipe.say({ id: 1, method: "tools/call", params: { n: 1 } });
  const first = await pipe.gateway(0);
  await eventually(() => expect(first.lines.length).toBe(1));
  pipe.say({ id: 2, method: "tools/call", params: { n: 2 } });
  await eventually(() => expect(first.lines.length).toBe(2));
  first.say("#draining");
  first.say("#refused 2");
  first.say({ id: 1, result: {} });
  await eventually(() => expect(parsed(pipe.told)).toMatchObject([{ id: 1 }]));
  pipe.say({ id: 3, method: "tools/call", params: { n: 3 } });
  pipe.say({ method: "notifications/cancelled", params: { requestId: 99 } });
  await eventually(() => expect(first.lines.length).toBe(3));
  first.go();
  const second = await pipe.gateway(1);
  await eventually(() => expect(parsed(second.lines)).toMatchObject([{ id: 2 }, { id: 3 }]));
  for (const id of [2, 3]) second.say({ id, result: {} });
  await eventually(() => expect(parsed(pipe.told)).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }]));
  pipe.leave();
  await pipe.over;
});

test("a gateway of another version of the protocol is not taken for the same", async () => {
  const pipe = open();
  pipe.say({ id: 0, method: "initialize", params: {} });
  const first = await pipe.gateway(0);
  first.say({ id: 0, result: { protocolVersion: "2025-11-25" } });
  await eventually(() => expect(pipe.told.length).toBe(1));
  first.go();
  const second = await pipe.gateway(1);
  await eventually(() => expect(second.lines.length).toBe(1));
  second.say({ id: 0, result: { protocolVersion: "2024-11-05" } });
  await expect(pipe.over).rejects.toThrow("version 2024-11-05");
});
