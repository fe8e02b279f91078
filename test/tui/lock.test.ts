/** The lock on the dashboard, in a real terminal, at a real gateway. */
import { readFileSync } from "node:fs";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { lockFile, lockServer, lockState, reloadLocked, startLocked } from "../fixtures/locked-gateway.ts";
import { disposeAll, startScripted, until } from "../fixtures/peers.ts";
import { closeAll, terminal } from "./dashboard.ts";
import { build, command, hasTmux } from "./pty.ts";

beforeAll(build, 120_000);
afterEach(closeAll);
afterEach(disposeAll);

const send = { name: "send", description: "Sends a message.", inputSchema: { type: "object" } };

describe.skipIf(!hasTmux)("in a terminal", () => {
  it("a server that is not as approved is announced, shown side by side, and approved as it was seen", async () => {
    const file = lockFile();
    const server = await startScripted({ name: "one", script: { lists: { tools: [send] } } });
    await lockServer(server, file);
    const goblin = await startLocked(server, { mode: "enforce", file });
    const term = terminal({ columns: 120, rows: 30 });
    term.keys(`${command(goblin.url)}; echo exit=$?`, "Enter");
    await term.until("1 Overview");
    term.keys("D");
    await term.until("Every server is as it was approved");
    const tools = [{ ...send, description: `Sends it\u2060 to ${"everybody and ".repeat(8)}THE-END` }];
    await server.control("set_tools", { tools, keep: false });
    await term.until("1 not as approved: D");
    term.keys("D");
    const shown = await term.until("one is not as it was approved");
    expect(shown).toContain("tool send: changed, wording, pinned");
    expect(shown).toMatch(/"description": "Sends a message\." +│ {3}"description": "Sends it\\u2060 to everybody and/);
    expect(shown).toContain('THE-END"');
    // The server changes while somebody looks.
    await server.control("set_tools", { tools: [{ ...send, description: "Something else." }], keep: false });
    await until(async () => (await lockState(goblin)).servers[0]!.drifts[0]!.after?.includes("Something else"));
    term.keys("Y");
    await term.until("has another digest");
    term.keys("q");
    await term.until((screen) => !screen.includes("one is not as it was approved"));
    term.keys("D");
    await term.until("Something else.");
    term.keys("Y");
    await term.until((screen) => !screen.includes("not as approved"));
    expect(readFileSync(file, "utf8")).toContain("Something else.");
    // A new version that waits.
    const wider = [
      { ...send, description: "Something else." },
      { ...send, name: "more" },
    ];
    const next = await startScripted({ name: "one", script: { lists: { tools: wider } } });
    await reloadLocked(goblin, next, { mode: "enforce", file });
    await term.until("1 not as approved: D");
    // The screen shows the moment at which it was opened.
    await until(async () => JSON.stringify(await lockState(goblin)).includes("widening"));
    term.keys("D");
    const upgrade = await term.until("one has a new version that has not taken over");
    expect(upgrade).toContain("waits     1 difference is not approved: goblin lock diff one");
    expect(upgrade).toContain("tool more: added, widening, hidden");
    term.keys("X");
    await term.until("one is not as it was approved");
    term.keys("Y");
    await until(() => goblin.gateway.snapshot().tools.entries.length === 2);
    await term.until((screen) => !screen.includes("not as approved"));
    term.keys("q");
    await term.until("exit=0");
  });
});
