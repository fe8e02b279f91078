/** A config of the current folder under each of its names, in each form, and with every command. */
import { afterEach, test } from "vitest";
import { disposeAll } from "../fixtures/peers.ts";
import { isNotThisMachine, leadsNowhereElse, outer, runsNothingUntrusted, showsItsServer } from "./trust-checks.ts";

afterEach(disposeAll);

test(".mcp.json of the folder runs nothing before it is trusted", () => runsNothingUntrusted(".mcp.json"));

test.runIf(outer)("no command is led to another machine, trusted or not", () =>
  leadsNowhereElse([["list", "tools"], ["read", "x"], ["prompt", "x"], ["tui"], ["tokens"]]),
);

test.each(["127.0.0.1@example.com", "localhost.example.com", "0177.1", "::ffff:8.8.8.8"])(
  "%s is not this machine",
  isNotThisMachine,
);

test.each([
  ["a bare map", { trap: { command: "run-me", args: ["now"] } }],
  ["Zed", { context_servers: { trap: { command: { path: "run-me", args: ["now"] } } } }],
  ["a list", { mcpServers: [{ name: "trap", command: ["run-me", "now"] }] }],
])("the question shows the servers that would run, also in the form of %s", (_name, config) => showsItsServer(config));
