/** The lock on the page, in a real browser: differences side by side, and their approval. */
import { readFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { chromiumPath, closeChromium, openTab } from "../fixtures/chromium.ts";
import { lockFile, lockServer, lockState, reloadLocked, startLocked } from "../fixtures/locked-gateway.ts";
import { disposeAll, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);
afterAll(closeChromium);

const send = { name: "send", description: "Sends a message.", inputSchema: { type: "object" } };

describe.skipIf(chromiumPath === undefined)("the page", () => {
  test("shows what is not as approved side by side, and approves what was seen", async () => {
    const file = lockFile();
    const server = await startScripted({ name: "one", script: { lists: { tools: [send] } } });
    await lockServer(server, file);
    const description = `Sends a message.<img src=x onerror="document.title='owned'">\u202eevil ${"long ".repeat(900)}THE-END`;
    server.setScript({ lists: { tools: [{ ...send, description }] } });
    const goblin = await startLocked(server, { mode: "enforce", file });
    const { page, problems } = await openTab();
    await page.goto(`${goblin.origin}/ui/`);
    await page.getByRole("link", { name: /^Lock ?1$/ }).click();
    await page.locator("main").getByRole("link", { name: "one" }).click();
    const section = page.getByRole("region", { name: "tool send" });
    await section.getByText("suspicious", { exact: true }).first().waitFor();
    const other = section.locator(".diff-other td");
    expect(await other.first().textContent()).toContain('"description": "Sends a message."');
    expect(await other.last().textContent()).toMatch(/⟨202e⟩evil .*THE-END"$/);
    expect(await page.locator("main img").count()).toBe(0);

    // The server changes while somebody looks: what was seen is no longer there to be approved.
    await page.route("**/api/lock", (route) => route.abort());
    await server.control("set_tools", { tools: [{ ...send, description: "Something else." }], keep: false });
    await until(async () => (await lockState(goblin)).servers[0]!.drifts[0]!.after?.includes("Something else"));
    const before = readFileSync(file, "utf8");
    await page.getByRole("button", { name: "Approve what looks like an attack" }).click();
    await page.getByText("has another digest").waitFor();
    expect(readFileSync(file, "utf8")).toBe(before);

    await page.unroute("**/api/lock");
    await page.reload();
    await page.getByRole("button", { name: "Approve 1 difference" }).click();
    await page.locator("h1").getByText("approved").waitFor();
    expect(readFileSync(file, "utf8")).toContain("Something else.");
    await page.getByRole("link", { name: "Lock", exact: true }).first().waitFor();
    expect(problems.filter((text) => !/409|ERR_FAILED/.test(text))).toEqual([]);
  });

  test("shows a new version that waits, and approves it", async () => {
    const file = lockFile();
    const lock = { mode: "enforce", file };
    const server = await startScripted({ name: "one", script: { lists: { tools: [send] } } });
    await lockServer(server, file);
    const goblin = await startLocked(server, lock);
    const tools = [send, { ...send, name: "more" }];
    await reloadLocked(goblin, await startScripted({ name: "one", script: { lists: { tools } } }), lock);
    const { page, problems } = await openTab();
    await page.goto(`${goblin.origin}/ui/servers/one`);
    await page.getByText("A new version has not taken over").waitFor();
    await page.getByRole("link", { name: "Look at it" }).click();
    await page.getByRole("region", { name: "new version: tool more" }).getByText("is new").waitFor();
    await page.getByRole("button", { name: "Approve the new version" }).click();
    await until(() => goblin.gateway.snapshot().tools.entries.length === 2);
    await page.getByText("A new version has not taken over").waitFor({ state: "detached" });
    expect(problems).toEqual([]);
  });
});
