import { expect, it } from "vitest";
import { shareOfConfig } from "../../../../src/app/workers/share-of-config.ts";
import { parseConfig } from "../../../../src/config/reading/parse.ts";

it("divides what is for the whole gateway, and leaves what is for one client or message", () => {
  const limits = {
    sessions: 10,
    inFlightPerServer: 1,
    queuePerServer: 0,
    connectionsPerServer: 7,
    callsAwaitingInput: 6,
    handOvers: 9,
    heldCalls: 4,
    heldBytes: 100,
    inFlightPerSession: 8,
    callsPerSecond: 5,
    bodyBytes: 5000,
  };
  const results = { memoryBytes: 1000, keptBytes: 3001 };
  const { config } = parseConfig(JSON.stringify({ mcpServers: {}, limits, results }), { file: "x", env: {} });
  const share = shareOfConfig(config, 3);
  expect(share.limits).toMatchObject({
    sessions: 4,
    inFlightPerServer: 1,
    queuePerServer: 0,
    connectionsPerServer: 3,
    callsAwaitingInput: 2,
    handOvers: 3,
    heldCalls: 2,
    heldBytes: 34,
    inFlightPerSession: 8,
    callsPerSecond: 5,
    bodyBytes: 5000,
  });
  expect(share.results).toMatchObject({ memoryBytes: 334, keptBytes: 1001 });
  expect(config.limits.sessions).toBe(10);
});
