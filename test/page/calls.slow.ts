/** The Calls panel in a real browser: a call is made again only as carefully as its tool needs. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
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

test.skipIf(chromiumPath === undefined)("the copied curl command works where a token is needed", async () => {
  const server = await startScripted({ name: "one" });
  const token = "0f8d1c7be93a4f5566778899aabbccdd";
  const { origin } = await startGoblin({
    mcpServers: { one: server.entry },
    gateway: { auth: { clients: { ada: { token, admin: true } } } },
  });
  const permissions = ["clipboard-read", "clipboard-write"];
  const { page } = await openTab({ permissions });
  await page.goto(`${origin}/ui/catalog/tools/one_add`);
  await page.getByLabel("Admin token").fill(token);
  await page.getByRole("button", { name: "Open" }).click();
  await page.locator('[name="a"]').fill("1");
  await page.locator('[name="b"]').fill("2");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByText("this call in full").click();
  await page.getByRole("button", { name: "Copy as curl" }).click();
  const curl = await page.evaluate(() => navigator.clipboard.readText());
  expect(curl).not.toContain(token);
  const env = { ...process.env, GOBLIN_TOKEN: token };
  expect((await promisify(execFile)("sh", ["-c", curl], { env })).stdout).toContain("event: result");
  await page.getByRole("button", { name: "Copy as goblin call" }).click();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  expect(command).toBe(`goblin call 'one_add' --url '${origin}/mcp' --args '{"a":1,"b":2}'`);
});
