/** Approvals on the page, in a real browser: a call is looked at, allowed and denied. */
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { runsOf, startAsking } from "../fixtures/approvals.ts";
import { chromiumPath, closeChromium, openTab } from "../fixtures/chromium.ts";
import { connectV1, disposeAll } from "../fixtures/peers.ts";

afterEach(disposeAll);
afterAll(closeChromium);

describe.skipIf(chromiumPath === undefined)("the page", () => {
  test("shows a call that waits with all of its arguments, and answers", async () => {
    const rules = [{ id: "echoes", effect: "ask", tools: ["web/echo"] }];
    const { url, origin, ops, web } = await startAsking({ policy: { rules } });
    const { client } = await connectV1({ url });
    const { page, problems } = await openTab();
    await page.goto(`${origin}/ui/approvals`);
    await page.getByText("Nothing waits for approval").waitFor();
    const text = `<img src=x onerror="document.title='owned'">\u202e${"x".repeat(3000)}THE-END`;
    const call = client.callTool({ name: "web_echo", arguments: { text } });
    await page.locator("main").getByRole("link", { name: "web_echo" }).click();
    await page.locator("pre").getByText("THE-END").waitFor();
    await page.locator("pre").getByText("\\u202e").waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    await page.getByRole("button", { name: "Allow once" }).click();
    expect(await call).toMatchObject({ structuredContent: { text } });
    await page.getByText("operator, for once").waitFor();
    expect(await page.getByRole("button", { name: "Deny" }).count()).toBe(0);

    const second = client
      .callTool({ name: "web_echo", arguments: { text: "no" } })
      .catch((error: Error) => error.message);
    const [row] = await ops.held();
    await page.goto(`${origin}/ui/approvals/${row!.id}`);
    await page.getByRole("button", { name: "Deny" }).click();
    expect(await second).toContain("a person denied it");
    expect(await runsOf(web, "echo")).toHaveLength(1);

    const third = client.callTool({ name: "web_echo", arguments: { text: "yes" } });
    const [last] = await ops.held();
    await page.goto(`${origin}/ui/approvals/${last!.id}`);
    await page.getByRole("button", { name: "Always…" }).click();
    await page.locator("pre").getByText('"ask":false').waitFor();
    await third;
    expect(problems).toEqual([]);
  });
});
