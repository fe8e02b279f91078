/** Small things that a person meets on the page, in a real browser. */
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { chromiumPath, closeChromium, openTab } from "../fixtures/chromium.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);
afterAll(closeChromium);

async function start(settings: object = {}) {
  const server = await startScripted({ name: "one" });
  return { server, ...(await startGoblin({ mcpServers: { one: server.entry }, ...settings })) };
}

describe.skipIf(chromiumPath === undefined)("the page", () => {
  test("copies where there is no clipboard API, and gives the text where it may not copy", async () => {
    const { origin, url } = await start();
    const { page } = await openTab({ permissions: ["clipboard-read"] });
    await page.addInitScript(() => Object.defineProperty(navigator.clipboard, "writeText", { value: undefined }));
    await page.goto(`${origin}/ui`);
    const copy = page.locator(".endpoint").getByRole("button");
    await copy.click();
    await copy.getByText("Copied").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(url);
    expect(await page.locator("textarea").count()).toBe(0);
    await page.evaluate(() => Object.defineProperty(document, "execCommand", { value: () => false }));
    const asked = page.waitForEvent("dialog");
    const clicked = copy.click();
    const dialog = await asked;
    expect(dialog.defaultValue()).toBe(url);
    await dialog.dismiss();
    await clicked;
  });

  test("says that a link was used, and which command makes another", async () => {
    const admin = "an-admin-token";
    const { origin } = await start({ gateway: { auth: { tokens: ["a-token"] }, admin: { tokens: [admin] } } });
    const headers = { authorization: `Bearer ${admin}`, "content-type": "application/json" };
    const { code } = await (await fetch(`${origin}/api/page`, { method: "POST", headers, body: "{}" })).json();
    const first = await openTab();
    await first.page.goto(`${origin}/ui#code=${code}`);
    await first.page.locator(".live-live").waitFor();
    const second = await openTab();
    await second.page.goto(`${origin}/ui#code=${code}`);
    await second.page.getByText("This link was used already, or has expired").waitFor();
    await second.page.getByText("goblin ui", { exact: true }).waitFor();
    const third = await openTab();
    await third.page.goto(`${origin}/ui`);
    await third.page.getByLabel("Admin token").waitFor();
    expect(await third.page.getByText("This link was used").count()).toBe(0);
  });

  test("keeps the figures of a tool true while it is called, here and elsewhere", async () => {
    const { origin, url } = await start();
    const { page } = await openTab();
    await page.goto(`${origin}/ui/catalog/tools/one_tool_error`);
    const figure = (label: string) => page.locator(".figure").filter({ hasText: label });
    await figure("Calls").getByText("0", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await figure("Calls").getByText("1", { exact: true }).waitFor();
    await figure("Calls").getByText("1 failed").waitFor();
    await figure("Median").getByText(/ms$/).waitFor();
    const raw = rawHttp(url);
    await raw.initialize();
    await raw.call("tools/call", { name: "one_tool_error", arguments: {} });
    await figure("Calls").getByText("2", { exact: true }).waitFor();
  });

  test("leads from a link in a result to the resource in the catalog", async () => {
    const { origin } = await start();
    const { page } = await openTab();
    await page.goto(`${origin}/ui/catalog/prompts/one_rich`);
    await page.getByRole("button", { name: "Get the prompt" }).click();
    await page.locator(".link-block").getByRole("link", { name: "hello" }).click();
    await page.getByRole("button", { name: "Read" }).click();
    await page.getByText("hello 0").waitFor();
  });

  test("counts a cancelled call as no failure, like the command line", async () => {
    const { server, origin, url } = await start();
    const raw = rawHttp(url);
    await raw.initialize();
    await raw.call("tools/call", { name: "one_tool_error", arguments: {} });
    const stop = new AbortController();
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ name: "one_sleep", arguments: { ms: 100_000 } });
    const call = fetch(`${origin}/api/tools/call`, { method: "POST", headers, body, signal: stop.signal });
    await until(async () => JSON.stringify(await server.received("tools/call")).includes('"sleep"'));
    stop.abort();
    await call.catch(() => {});
    const { page } = await openTab();
    await page.goto(`${origin}/ui/calls`);
    await page.locator(".call").getByText("cancelled").waitFor();
    await page.getByLabel("failed only").check();
    await page.locator(".call").getByText("cancelled").waitFor({ state: "detached" });
    expect(await page.locator(".call").count()).toBe(1);
    await page.locator(".call").getByText("tool-error").waitFor();
  });

  test("shows all of a session at phone width", async () => {
    const { origin, url } = await start();
    await rawHttp(url).initialize();
    const { page } = await openTab({ viewport: { width: 390, height: 860 } });
    await page.goto(`${origin}/ui/clients`);
    for (const label of ["Protocol", "Since", "Idle", "In flight", "Subscriptions"]) {
      const box = await page.locator(`td[data-label="${label}"]`).boundingBox();
      expect(box!.x + box!.width, label).toBeLessThanOrEqual(390);
    }
  });
});
