/** The Calls panel in a real browser: a call is made again only as carefully as its tool needs. */
import { afterAll, afterEach, expect, test } from "vitest";
import { chromiumPath, closeChromium, openTab } from "../fixtures/chromium.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, rawHttp, startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);
afterAll(closeChromium);

test.skipIf(chromiumPath === undefined)(
  "a tool that is not marked as read-only is called again only after a question",
  async () => {
    const server = await startScripted({ name: "one", tools: 1 });
    const { origin, url } = await startGoblin({ mcpServers: { one: server.entry } });
    const raw = rawHttp(url);
    await raw.initialize();
    await raw.call("tools/call", { name: "one_tool_1", arguments: {} });
    const { page } = await openTab();
    await page.goto(`${origin}/ui/calls`);
    await page.locator(".call").getByText("one_tool_1").click();
    await page.getByRole("button", { name: "Call again" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Do not" }).click();
    expect(await page.locator(".run").count()).toBe(0);
    await page.getByRole("button", { name: "Call again" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Call it" }).click();
    await page.locator(".run .result").first().waitFor();
  },
);

test.skipIf(chromiumPath === undefined)("a call says how many keys and tokens were masked", async () => {
  const server = await startScripted({ name: "one" });
  const masking = { arguments: true, results: true };
  const { origin, url } = await startGoblin({ mcpServers: { one: server.entry }, masking });
  const raw = rawHttp(url);
  await raw.initialize();
  const token = `gh${"p_"}${"a1B2".repeat(9)}`;
  await raw.call("tools/call", { name: "one_echo", arguments: { text: `${token} ${token}` } });
  await raw.call("tools/call", { name: "one_add", arguments: { a: 1, b: 2 } });
  const { page } = await openTab();
  await page.goto(`${origin}/ui/calls`);
  await page.locator(".call").getByText("one_echo").click();
  await page.getByText("masked on the way: 2 keys or tokens").waitFor();
  await page.goto(`${origin}/ui/calls`);
  await page.locator(".call").getByText("one_add").click();
  await page.getByRole("heading", { name: "Answered" }).waitFor();
  expect(await page.getByText("masked on the way").count()).toBe(0);
});

test.skipIf(chromiumPath === undefined)("a call whose arguments are masked is not called again", async () => {
  const server = await startScripted({ name: "one" });
  const { origin, url } = await startGoblin({ mcpServers: { one: server.entry } });
  const raw = rawHttp(url);
  await raw.initialize();
  await raw.call("tools/call", { name: "one_echo", arguments: { password: "hunter2-hunter2" } });
  const { page } = await openTab();
  await page.goto(`${origin}/ui/calls`);
  await page.locator(".call").getByText("one_echo").click();
  await page.getByText("Secrets in its arguments are masked here").waitFor();
  expect(await page.getByRole("button", { name: "Call again" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: "Copy as curl" }).count()).toBe(0);
});
