/** Calls per second: a token bucket that holds one second's worth and fills again. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ClientLimits } from "../../../src/calls/stages/limits.ts";
import type { LiveConfig } from "../../../src/config/live-config.ts";
import { Call, type Client } from "../../../src/protocol/call.ts";
import { Flight } from "../../../src/protocol/flight.ts";
import type { Route } from "../../../src/routing/resolve.ts";

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
