/**
 * A session that another replica took over: what is under way is answered, nothing else is said,
 * and it ends before it may come back.
 */
import { expect, test } from "vitest";
import { Session } from "../../../src/core/session/session.ts";
import { MovedSessions } from "../../../src/front/legacy/moved-sessions.ts";
import { Call } from "../../../src/mcp/protocol/call.ts";
import { ANYONE, EVERYWHERE } from "../../../src/mcp/protocol/principal.ts";
import { until } from "../../fixtures/peers.ts";

function start() {
  const told: string[] = [];
  const session = new Session({
    id: "s",
    principal: ANYONE,
    place: EVERYWHERE,
    account: "",
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    info: {},
    send: (text) => told.push(text),
  });
  const call = new Call({
    method: "tools/call",
    params: {},
    text: "{}",
    client: session,
    emit: (text) => told.push(text),
  });
  session.begin(1, call);
  const moved = new MovedSessions((_id, { inFlight }) => inFlight === 0);
  return { session, call, told, moved };
}

test("it rests until its last call is answered", async () => {
  const { session, call, moved } = start();
  moved.add("id", session);
  expect([moved.has("id"), [...moved.resting], session.ended, call.cancelled]).toEqual([
    true,
    [session],
    false,
    undefined,
  ]);
  session.end(1);
  await until(() => session.ended, { what: "the end of the session" });
  expect([...moved.resting]).toEqual([]);
  expect(moved.has("id")).toBe(true);
});

test("its questions are given up, and it hears of its calls alone", async () => {
  const { session, call, told, moved } = start();
  const asked = session.ask("elicitation/create", "{}", { call });
  const before = told.length;
  moved.add("id", session);
  expect(await asked).toMatchObject({ ok: false });
  expect(await session.ask("elicitation/create", "{}", { call })).toMatchObject({ ok: false });
  session.notify("of the session");
  session.notify("of the call", call);
  expect(told.slice(before)).toEqual(["of the call"]);
});

test("it ends at once if nothing is under way, and before it comes back", () => {
  const idle = start();
  idle.session.end(1);
  idle.moved.add("id", idle.session);
  expect(idle.session.ended).toBe(true);
  const busy = start();
  busy.moved.add("id", busy.session);
  busy.moved.end("id");
  busy.moved.forget("id");
  expect([busy.session.ended, busy.call.cancelled, busy.moved.has("id")]).toEqual([true, "client", false]);
});
