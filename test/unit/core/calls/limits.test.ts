/** Calls per second: a token bucket that holds one second's worth and fills again. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LiveConfig } from "../../../../src/config/live-config.ts";
import { ClientLimits } from "../../../../src/core/calls/stages/limits.ts";
import type { Route } from "../../../../src/core/routing/resolve.ts";
import { Call, type Client } from "../../../../src/mcp/protocol/call.ts";
import { Flight } from "../../../../src/mcp/protocol/flight.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

test("a client that is over the limit is let through again after the time that it was told", () => {
  const current = { limits: { inFlightPerSession: 100, callsPerSecond: 5 } };
  const stage = new ClientLimits({ current } as LiveConfig, () => {});
  const client = { meter: "ada" } as Client;
  const call = (): number | undefined => {
    const flight = new Flight(new Call({ method: "tools/call", params: {}, text: "{}", client, emit: () => {} }));
    const refused = stage.enter(flight);
    if (!refused) stage.leave(flight, {} as Route, { ok: true, raw: "{}" });
    return refused && JSON.parse(String(refused.raw)).data.retryAfterMs;
  };
  for (let n = 0; n < 5; n++) expect(call()).toBeUndefined();
  expect(call()).toBe(200);
  vi.advanceTimersByTime(199);
  expect(call()).toBe(1);
  vi.advanceTimersByTime(1);
  expect([call(), call()]).toEqual([undefined, 200]);
});

test("what gateways share is counted for as many clients as there may be, also while nobody asks for it", () => {
  const current = { limits: { inFlightPerSession: 100, callsPerSecond: 3 } };
  const stage = new ClientLimits({ current } as LiveConfig, () => {});
  stage.split(3);
  const call = (name: string): boolean => {
    const client = { meter: name, account: name } as Client;
    const flight = new Flight(new Call({ method: "tools/call", params: {}, text: "{}", client, emit: () => {} }));
    const refused = stage.enter(flight);
    if (!refused) stage.leave(flight, {} as Route, { ok: true, raw: "{}" });
    return !refused;
  };
  expect([call("ada"), call("ada")]).toEqual([true, false]);
  for (let n = 0; n < 10_000; n++) call(`other ${n}`);
  expect(stage.budgets().length).toBeLessThan(4097);
  // One that was forgotten and comes back has its part, not the whole.
  vi.advanceTimersByTime(20_000);
  for (let n = 0; n < 5000; n++) call(`new ${n}`);
  expect([call("ada"), call("ada")]).toEqual([true, false]);
});
