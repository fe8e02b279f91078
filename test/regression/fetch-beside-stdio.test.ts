/** A program that serves a channel and web requests has more than one client. */
import { PassThrough } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { createGateway } from "../../src/app/gateway.ts";
import { parseConfig } from "../../src/config/reading/parse.ts";
import { createLogger } from "../../src/observe/telemetry/logger.ts";
import { disposeAll, onDispose } from "../fixtures/peers.ts";

afterEach(disposeAll);

test("web requests end the rule that the client of a channel is the only one", async () => {
  const { config } = parseConfig("{}", { file: "test.json", env: {} });
  const log = createLogger({ level: "error", format: "json", stream: { write: () => {} } });
  const gateway = createGateway({ config, log });
  onDispose(() => gateway.close());
  gateway.stdio({ input: new PassThrough(), output: new PassThrough() });
  expect(gateway.servers.sole).toBeDefined();
  const request = new Request("http://localhost/mcp", { method: "POST", body: "{}" });
  await gateway.fetch(request);
  expect(gateway.servers.sole).toBe(undefined);
});
