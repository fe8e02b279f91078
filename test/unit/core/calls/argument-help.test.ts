/** The schema in the refusal of wrong arguments: of unlisted tools, once for each session. */
import { expect, test } from "vitest";
import { ArgumentHelp } from "../../../../src/core/calls/stages/argument-help.ts";
import type { Route } from "../../../../src/core/routing/resolve.ts";
import { Call, type Client } from "../../../../src/mcp/protocol/call.ts";
import { Flight } from "../../../../src/mcp/protocol/flight.ts";
import type { Answer } from "../../../../src/mcp/protocol/json-rpc.ts";

const inputSchema = {
  type: "object",
  properties: { id: { type: "integer" }, state: { enum: ["on", "off"] } },
  required: ["id"],
  additionalProperties: false,
};
const entry = { exposed: "a_one", name: "one", serverId: "a", definition: { value: { name: "one", inputSchema } } };

function leave(
  stage: ArgumentHelp,
  { args = {}, answer = failed, key = "s1", hasSession = true, isListed = false }: Partial<Given> = {},
): Answer {
  const params = { name: "a_one", arguments: args };
  const client = { key, hasSession } as Client;
  const call = new Call({ method: "tools/call", params, text: JSON.stringify(params), client, emit: () => {} });
  const snapshot = { exposure: { listsAll: false, isListed: () => isListed }, tools: { find: () => entry } };
  return stage.leave(new Flight(call), { name: "a_one", snapshot } as unknown as Route, answer);
}

interface Given {
  args: unknown;
  answer: Answer;
  key: string;
  hasSession: boolean;
  isListed: boolean;
}

const failed: Answer = { ok: true, raw: '{"content":[{"type":"text","text":"no"}],"isError": true,"x":1.0}' };
const help = JSON.stringify({ type: "text", text: `Input schema of a_one: ${JSON.stringify(inputSchema)}` });

test("a failed result with wrong arguments gets a block; everything else of it stays", () => {
  expect(leave(new ArgumentHelp()).raw).toBe(
    `{"content":[{"type":"text","text":"no"},${help}],"isError": true,"x":1.0}`,
  );
  const empty: Answer = { ok: true, raw: '{"content":[],"isError":true}' };
  expect(leave(new ArgumentHelp(), { answer: empty }).raw).toBe(`{"content":[${help}],"isError":true}`);
});

test.each([[{}], [{ id: "1" }], [{ id: 1, state: "up" }], [{ id: 1, other: 2 }], [undefined]])(
  "%j are wrong arguments",
  (args) => {
    expect(leave(new ArgumentHelp(), { args }).raw).toContain("Input schema of a_one");
  },
);

test("right arguments, results that did not fail, and listed tools are left alone", () => {
  const stage = new ArgumentHelp();
  expect(leave(stage, { args: { id: 1, state: "on" } })).toBe(failed);
  expect(leave(stage, { isListed: true })).toBe(failed);
  const fine: Answer = { ok: true, raw: '{"content":[],"isError":false}' };
  expect(leave(stage, { answer: fine })).toBe(fine);
});

test("the server's own refusal of params says it in its message", () => {
  const refused: Answer = { ok: false, code: -32602, raw: '{"code":-32602,"message":"bad id","data":{"a":1}}' };
  const { raw } = leave(new ArgumentHelp(), { answer: refused, args: { id: 1 } });
  const { message, ...rest } = JSON.parse(String(raw)) as { message: string };
  expect(message).toBe(`bad id\nInput schema of a_one: ${JSON.stringify(inputSchema)}`);
  expect(rest).toEqual({ code: -32602, data: { a: 1 } });
  const other: Answer = { ok: false, code: -32603, raw: '{"code":-32603,"message":"broken"}' };
  expect(leave(new ArgumentHelp(), { answer: other })).toBe(other);
});

test("once for each session; each time to a client without one", () => {
  const stage = new ArgumentHelp();
  const isHelped = (given: Partial<Given>) => String(leave(stage, given).raw).includes("Input schema");
  expect([isHelped({}), isHelped({}), isHelped({ key: "s2" })]).toEqual([true, false, true]);
  expect([1, 2].map(() => isHelped({ key: "r1", hasSession: false }))).toEqual([true, true]);
});
