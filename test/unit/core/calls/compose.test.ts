/**
 * The stages of a request: whatever happens, each one that let it through sees it leave once, in
 * the opposite order, and there is one answer.
 */
import { describe, expect, test } from "vitest";
import { compose, type Stage } from "../../../../src/core/calls/compose.ts";
import type { Route } from "../../../../src/core/routing/resolve.ts";
import { Call, type Client } from "../../../../src/mcp/protocol/call.ts";
import { Flight } from "../../../../src/mcp/protocol/flight.ts";
import type { Answer } from "../../../../src/mcp/protocol/json-rpc.ts";

const call = new Call({ method: "tools/call", params: {}, text: "{}", client: {} as Client, emit: () => {} });
const flight = new Flight(call);
const fine: Answer = { ok: true, raw: '"sent"' };
const failed = (message: string) =>
  expect.objectContaining({
    ok: false,
    symbol: "INTERNAL_ERROR",
    raw: expect.stringContaining(`"message":"${message}"`),
  });

/** Three stages of which the second may do something else, around a sender that may fail. */
async function run(second: Stage, send: () => Promise<Answer> = async () => fine) {
  const seen: string[] = [];
  const noting = (name: string, does: Stage = {}): Stage => ({
    enter(...given) {
      seen.push(`into ${name}`);
      return does.enter?.(...given);
    },
    leave(...given) {
      seen.push(`out of ${name}`);
      return does.leave ? does.leave(...given) : given[2];
    },
  });
  const stages = [noting("a"), noting("b", second), {}, noting("c")];
  const answer = await compose(stages, () => {
    seen.push("sent");
    return send();
  })(flight, {} as Route);
  return { seen: seen.join(", "), answer };
}

const all = "into a, into b, into c, sent, out of c, out of b, out of a";

describe("a request", () => {
  test("passes all stages on both ways", async () => {
    expect(await run({})).toEqual({ seen: all, answer: fine });
  });

  test("that a stage answers goes no further, and does not leave through that stage", async () => {
    const own: Answer = { ok: true, raw: '"own"' };
    expect(await run({ enter: () => own })).toEqual({ seen: "into a, into b, out of a", answer: own });
  });

  test("that a stage throws at goes no further", async () => {
    const throws = (): undefined => {
      throw new Error("on the way in");
    };
    expect(await run({ enter: throws })).toEqual({ seen: "into a, into b, out of a", answer: failed("on the way in") });
  });

  test("whose answer a stage throws at leaves through all others", async () => {
    const throws = (): Answer => {
      throw new Error("on the way out");
    };
    expect(await run({ leave: throws })).toEqual({ seen: all, answer: failed("on the way out") });
  });

  test.each([
    ["rejects", () => Promise.reject(new Error("not sent"))],
    [
      "throws",
      () => {
        throw new Error("not sent");
      },
    ],
  ])("whose sender %s leaves through all stages", async (_, send: () => Promise<Answer>) => {
    expect(await run({}, send)).toEqual({ seen: all, answer: failed("not sent") });
  });
});
