/** Approvals on the dashboard, in a real terminal, at a real gateway. */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { runsOf, startAsking } from "../fixtures/approvals.ts";
import { connectV1, disposeAll } from "../fixtures/peers.ts";
import { closeAll, terminal } from "./dashboard.ts";
import { build, command, hasTmux } from "./pty.ts";

beforeAll(build, 120_000);
afterEach(closeAll);
afterEach(disposeAll);

describe.skipIf(!hasTmux)("in a terminal", () => {
  it("a call that waits is announced, shown with its arguments, allowed and denied", async () => {
    const { url, ops, web } = await startAsking();
    const { client } = await connectV1({ url });
    const term = terminal({ columns: 120, rows: 24 });
    term.keys(`${command(url)}; echo exit=$?`, "Enter");
    await term.until("1 Overview");
    term.keys("a");
    await term.until("Nothing waits for approval");
    const first = client.callTool({ name: "web_add", arguments: { a: 20, b: 22 } });
    const [row] = await ops.held();
    await term.until("1 to approve: a");
    term.keys("a");
    const shown = await term.until("Allow web_add?");
    expect(shown).toContain("rule      adds: sums are sensitive");
    expect(shown).toContain(`digest    ${row!.digest}`);
    expect(shown).toContain('{"a":20,"b":22}');
    term.keys("y");
    expect(await first).toMatchObject({ content: [{ text: "42" }] });
    await term.until("Allowed web_add once");
    await term.until((screen) => !screen.includes("to approve"));
    const second = client
      .callTool({ name: "web_add", arguments: { a: 1, b: 1 } })
      .catch((error: Error) => error.message);
    await ops.held();
    await term.until("1 to approve: a");
    term.keys("a");
    await term.until('{"a":1,"b":1}');
    term.keys("n");
    expect(await second).toContain("a person denied it");
    await term.until((screen) => !screen.includes("to approve"));
    expect(await runsOf(web)).toHaveLength(1);
    term.keys("q");
    await term.until("exit=0");
  });
});
