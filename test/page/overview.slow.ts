/** The overview in a real browser: what was before it was opened, and figures that add up. */
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { chromiumPath, closeChromium, openTab } from "../fixtures/chromium.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { connectV1, disposeAll, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);
afterAll(closeChromium);

async function start() {
  const server = await startScripted({ name: "one" });
  return startGoblin({ mcpServers: { one: server.entry } });
}

describe.skipIf(chromiumPath === undefined)("the overview", () => {
  test("shows calls of before it was opened, with a scale", async () => {
    const { origin, url } = await start();
    const { client } = await connectV1({ url });
    for (let i = 0; i < 5; i++) await client.callTool({ name: "one_echo", arguments: {} });
    const past = async (): Promise<{ callsPerSecond: number }[]> =>
      (await (await fetch(`${origin}/api/history`)).json()).items;
    await until(async () => (await past()).some(({ callsPerSecond }) => callsPerSecond > 0));
    const most = Math.max(...(await past()).map(({ callsPerSecond }) => callsPerSecond));
    const { page } = await openTab();
    await page.goto(`${origin}/ui`);
    const chart = page.locator(".chart").first();
    await chart.locator(".chart-most").getByText(String(most), { exact: true }).waitFor();
    await chart.getByText("30 s ago").waitFor();
    await chart.getByRole("img", { name: `Calls per second, the last 30 s, at most ${most}` }).waitFor();
    // Two readers of the events do not change each other's figures.
    await page.reload();
    await chart.locator(".chart-most").getByText(String(most), { exact: true }).waitFor();
    expect(await chart.locator(".series-main .line").getAttribute("d")).toContain("L");
  });
  test("tokens add up, and the gateway's own tools are in the catalog and can be tried", async () => {
    const server = await startScripted({ name: "one" });
    const { origin } = await startGoblin({
      mcpServers: { one: server.entry },
      metaTools: { enabled: ["catalog_servers", "search_tools"] },
    });
    const { page } = await openTab();
    await page.goto(`${origin}/ui`);
    const figure = (label: string) => page.locator(".figure").filter({ hasText: label });
    const note = figure("Tools").locator("small");
    await note.getByText("; 2 of the gateway, ").waitFor();
    const [, ofServers, own] = /(\d+) tokens; 2 of the gateway, (\d+)$/.exec((await note.textContent())!)!;
    expect(Number(own)).toBeGreaterThan(0);
    const listed = await figure("A client reads").locator("strong").textContent();
    expect(Number(listed)).toBe(Number(ofServers) + Number(own));
    await page.goto(`${origin}/ui/catalog/tools?q=catalog_servers`);
    await page.getByText("the gateway's own").waitFor();
    await page.getByRole("link", { name: /^catalog_servers/ }).click();
    await page.getByText("of the gateway itself").waitFor();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.locator(".result").getByText("one").first().waitFor();
  });
});
