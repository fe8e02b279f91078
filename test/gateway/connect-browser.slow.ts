/** The whole login in a real browser. Skipped where there is none. */
import { afterAll, afterEach, expect, test } from "vitest";
import { chromiumPath, closeChromium, openTab } from "../fixtures/chromium.ts";
import { connectV2 } from "../fixtures/clients.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { startGuarded } from "../fixtures/guarded.ts";
import { loginsOf, stateEnv } from "../fixtures/logins.ts";
import { startOidc } from "../fixtures/oidc.ts";
import { startScripted } from "../fixtures/scripted.ts";

afterEach(disposeAll);
afterAll(closeChromium);

const isThere = chromiumPath !== undefined;

test.skipIf(!isThere)(
  "a person follows the link of a call, logs in, and the call goes on",
  { timeout: 120_000 },
  async () => {
    const [oidc, behind, { page }] = await Promise.all([
      startOidc(),
      startScripted({ transport: "http" }),
      openTab({ viewport: { width: 360, height: 640 } }),
    ]);
    const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
    const config = { mcpServers: { remote: { url: guarded.url } } };
    const goblin = await startGoblin(config, { logins: await loginsOf(stateEnv()) });
    const problems: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" && page.url().startsWith(goblin.origin)) problems.push(message.text());
    });
    let visited: Promise<void> | undefined;
    const visit = async (link: string): Promise<void> => {
      await page.goto(link);
      // On a phone, nothing is wider than the screen.
      expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
      await page.getByRole("button", { name: "Log in" }).click();
      await page.waitForURL(`${oidc.url}/**`);
      await page.getByPlaceholder("Enter any login").fill("alice");
      await page.getByPlaceholder("and password").fill("x");
      await page.getByRole("button", { name: "Sign-in" }).click();
      await page.getByRole("button", { name: "Continue" }).click();
      await page.waitForURL(link);
      expect(await page.locator("main").textContent()).toContain("Logged in to remote.");
    };
    const { client } = await connectV2({
      url: goblin.url,
      era: "modern",
      elicitation: ({ url }) => {
        visited = visit(url as string);
        return { action: "accept" };
      },
    });
    const result = await client.callTool({ name: "remote_echo", arguments: { text: "hello" } });
    await visited;
    expect(result.content).toEqual([{ type: "text", text: '{"text":"hello"}' }]);
    expect(problems).toEqual([]);
  },
);
