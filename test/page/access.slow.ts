/** Access and Logins in a real browser: a principal is tried, a person logs in and out. */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Grant } from "../../src/auth/pairing/store.ts";
import { chromiumPath, closeChromium, openTab } from "../fixtures/chromium.ts";
import { disposeAll } from "../fixtures/dispose.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { startGuarded } from "../fixtures/guarded.ts";
import { loginsOf, stateEnv } from "../fixtures/logins.ts";
import { startOidc } from "../fixtures/oidc.ts";
import { startPaired } from "../fixtures/pairing.ts";
import { startScripted } from "../fixtures/peers.ts";

afterEach(disposeAll);
afterAll(closeChromium);

const EVIL = `<img src=x onerror="document.title='owned'">\u202e`;
const pictures = process.env["GOBLIN_PICTURES"] ?? join(tmpdir(), "goblin-pictures");

async function limited() {
  const [files, web] = await Promise.all([startScripted({ name: "files" }), startScripted({ name: "web" })]);
  const goblin = await startGoblin({
    mcpServers: { files: files.entry, web: web.entry },
    metaTools: { enabled: [] },
    profiles: {
      reading: { servers: ["files"], tools: { allow: ["echo", "add", EVIL] } },
      everything: {},
    },
    policy: {
      rules: [
        { id: "no-sleep", effect: "deny", tools: ["sleep"], reason: EVIL },
        { id: "ask-first", effect: "ask", tools: ["web/echo"] },
        { effect: "deny", tools: ["files/add"], when: "args.a > 10.0" },
      ],
    },
  });
  await files.control("set_tools", {
    tools: [{ name: "evil", title: EVIL, description: EVIL, inputSchema: { type: "object" } }],
    keep: true,
  });
  return goblin;
}

describe.skipIf(chromiumPath === undefined)("the page", () => {
  test.each([
    ["light", 1280],
    ["dark", 390],
  ] as const)("tries a principal: what it sees, and why, %s, %i pixels wide", async (colorScheme, width) => {
    const { origin } = await limited();
    const { page, problems } = await openTab({ colorScheme, viewport: { width, height: 860 } });
    await page.goto(`${origin}/ui/access`);
    await page.getByText("Clients need no credential").waitFor();
    await page.getByText("no-sleep").first().waitFor();
    await page.getByLabel("Endpoint").selectOption("reading");
    await page.getByRole("button", { name: "Show what it sees" }).click();
    const answer = page.getByRole("region", { name: "What it sees" });
    await answer.getByText("limited by the profile reading and 3 rules").waitFor();
    await answer.getByLabel("Which entries").selectOption("hidden");
    await answer.getByRole("searchbox").fill("web_echo");
    await answer.getByRole("button", { name: "web_echo" }).click();
    await answer.getByText('no: the profile "reading" does not show it').waitFor();

    await answer.getByLabel("Which entries").selectOption("visible");
    await answer.getByRole("searchbox").fill("files_add");
    await answer.getByRole("button", { name: "files_add" }).click();
    await answer.getByText("depends on its arguments").waitFor();
    await answer.getByRole("list", { name: "Rules that match" }).getByText("args.a > 10.0").waitFor();

    // The question is in the address: somebody else who opens it sees the same.
    const { page: other } = await openTab({ viewport: { width, height: 860 } });
    await other.goto(page.url());
    await other.getByText("limited by the profile reading and 3 rules").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    expect(await page.title()).not.toContain("owned");
    expect(await page.locator("main img").count()).toBe(0);
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `${colorScheme}-${width}-access-tried.png`), fullPage: true });
    expect(problems).toEqual([]);
  });

  test("a principal is tried with keys alone, and 10 000 tools stay a short list", async () => {
    const server = await startScripted({ name: "one", tools: 10_000 });
    const { origin } = await startGoblin({
      mcpServers: { one: server.entry },
      policy: { rules: [{ id: "few", effect: "deny", tools: ["tool_1*"] }] },
    });
    const { page } = await openTab();
    await page.goto(`${origin}/ui`);
    await page.locator(".live-live").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    await page.getByRole("heading", { name: "Access" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("somebody");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "What it sees" }).getByText("somebody").waitFor();
    await page.locator(".seen").first().waitFor();
    expect(await page.locator(".seen").count()).toBeLessThan(60);
    expect(new URL(page.url()).searchParams.get("as")).toBe("somebody");
  });

  test("a pairing code is made, a paired client's name is text, and its access ends", async () => {
    const paired = await startPaired({ gateway: { admin: { tokens: ["an-admin-token"] } } });
    const { page, problems } = await openTab();
    const one = { clientId: "c", clientHost: "127.0.0.1", resource: paired.goblin.url, scope: "mcp" };
    const refresh = { generation: 1, digest: "x", rotatedAt: 0 };
    const times = { createdAt: Date.now(), usedAt: Date.now() };
    const grant: Grant = { ...one, ...times, id: "g-1", issuer: paired.issuer, clientName: EVIL, refresh };
    await page.goto(`${paired.goblin.origin}/ui/access`);
    await page.getByLabel("Admin token").fill("an-admin-token");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("No client was let in yet").waitFor();
    await page.getByRole("button", { name: "New pairing code" }).click();
    expect(await page.locator(".code").textContent()).toMatch(/^\d{4}\D?\d{4}$/);
    // A client that is let in shows up by itself.
    await paired.store.change((book) => ({ ...book, grants: [...book.grants, grant] }));
    await page.getByText("<img src=x").waitFor();
    await page.getByRole("button", { name: "End" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "End" }).click();
    await page.getByText("No client was let in yet").waitFor();
    expect((await paired.store.read()).grants).toEqual([]);
    expect(await page.title()).not.toContain("owned");
    expect(problems.filter((text) => !text.includes("401"))).toEqual([]);
  });

  test("a person logs in to a server, sees the login, and logs out", { timeout: 120_000 }, async () => {
    const [oidc, behind] = await Promise.all([startOidc(), startScripted({ transport: "http" })]);
    const guarded = await startGuarded({ behind: behind.url, issuer: oidc.url, scope: "mcp:use" });
    const config = { mcpServers: { remote: { url: guarded.url } } };
    const { origin } = await startGoblin(config, { logins: await loginsOf(stateEnv()) });
    const { page, problems } = await openTab({ colorScheme: "dark" });
    await page.goto(`${origin}/ui/logins`);
    await page.getByText("no login", { exact: true }).waitFor();
    const opened = page.context().waitForEvent("page");
    await page.getByRole("button", { name: "Log in" }).click();
    const tab = await opened;
    await tab.getByRole("button", { name: "Log in" }).click();
    await tab.waitForURL(`${oidc.url}/**`);
    await tab.getByPlaceholder("Enter any login").fill("alice");
    await tab.getByPlaceholder("and password").fill("x");
    await tab.getByRole("button", { name: "Sign-in" }).click();
    await tab.getByRole("button", { name: "Continue" }).click();
    await tab.getByText("Logged in to remote.").waitFor();

    // The first tab learns of it by itself.
    await page.getByText("logged in", { exact: true }).waitFor();
    await page.getByText(oidc.url).waitFor();
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, "dark-1280-logins-in.png") });
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Keep" }).click();
    await page.getByText("logged in", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Log out" }).click();
    await page.getByText("Logged out of remote.").waitFor();
    await page.getByText("no login", { exact: true }).waitFor();
    expect(problems).toEqual([]);
  });
});
