/**
 * The stages of a request: whatever happens, each one that let it through sees it leave once, in
 * the opposite order, and there is one answer. Stages that send it on do so in the order of the
 * list, and a request that needs an approval never reaches its server without one.
 */
import { describe, expect, test } from "vitest";
import { compose, type Send, type Stage } from "../../../../src/core/calls/compose.ts";
import { createSender } from "../../../../src/core/calls/relay.ts";
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

describe("stages that send a request on", () => {
  const named = (name: string): Stage => ({
    send: (sent, route, next) => next(sent, { ...route, params: `${route.params} ${name}` }),
  });
  const route = { params: "from the client" } as Route;
  const echo: Send = async (_, { params }) => ({ ok: true, raw: params });

  test("run in the order of the list, after all stages have let it in", async () => {
    const seen: string[] = [];
    const entering: Stage = { enter: () => void seen.push("entered") };
    const sending: Stage = {
      send(sent, to, next) {
        seen.push("sent on");
        return next(sent, to);
      },
    };
    const answer = await compose([named("a"), sending, named("b"), entering], echo)(flight, route);
    expect(answer).toEqual({ ok: true, raw: "from the client a b" });
    expect(seen).toEqual(["entered", "sent on"]);
  });

  test("run once more when a stage sends the request again", async () => {
    let sent = 0;
    const again: Stage = {
      leave: (of, to, answer, send) => (++sent === 1 ? send(of, { ...to, params: "again" }) : answer),
    };
    const answer = await compose([named("a"), again, named("b")], echo)(flight, route);
    expect(answer).toEqual({ ok: true, raw: "again a b" });
  });

  test("see the route of the client again when the answer leaves", async () => {
    const seen: string[] = [];
    const leaving: Stage = {
      leave(_, { params }, answer) {
        seen.push(params);
        return answer;
      },
    };
    await compose([leaving, named("a")], echo)(flight, route);
    expect(seen).toEqual(["from the client"]);
  });
});

test("a request that needs an approval is refused if no stage has asked for one", async () => {
  const forwarded: string[] = [];
  const forward = async (serverId: string): Promise<Answer> => {
    forwarded.push(serverId);
    return fine;
  };
  const held = new Flight(call);
  held.asksFirst = { params: "{}", rule: "ask", reason: undefined, revision: "1" };
  const answer = await compose([], createSender({ forward }))(held, { name: "files__delete" } as Route);
  expect(answer).toEqual(failed("files__delete needs an approval, and no stage asked for it"));
  expect(forwarded).toEqual([]);
});
