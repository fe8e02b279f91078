/**
 * The page in a real browser, against a real gateway and real servers: every panel, calls with
 * forms and questions, updates, logins, what breaks, and what a hostile server sends.
 */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { chromiumPath, closeChromium, openTab } from "../fixtures/chromium.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, type Scripted, startScripted, until } from "../fixtures/peers.ts";

afterEach(disposeAll);
afterAll(closeChromium);

/** Where to look at the panels afterwards. */
const pictures = process.env["GOBLIN_PICTURES"] ?? join(tmpdir(), "goblin-pictures");
const PANELS = [
  "",
  "servers",
  "servers/one",
  "catalog/tools",
  "catalog/tools/one_add",
  "catalog/prompts",
  "catalog/prompts/one_greet",
  "catalog/resources",
  "catalog/templates",
  "calls",
  "approvals",
  "lock",
  "clients",
  "access",
  "logins",
  "logs",
  "config",
  "nowhere",
];

async function start(): Promise<{ server: Scripted; origin: string }> {
  const server = await startScripted({ name: "one" });
  const { origin } = await startGoblin({ mcpServers: { one: server.entry } });
  return { server, origin };
}

const shows = (page: Page, text: string): Promise<void> => page.getByText(text).first().waitFor();
const field = (page: Page, name: string) => page.locator(`[name="${name}"]`);

describe.skipIf(chromiumPath === undefined)("the page", () => {
  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 390],
    ["dark", 390],
  ] as const)("every panel draws, %s, %i pixels wide", async (colorScheme, width) => {
    const { origin } = await start();
    const { page, problems } = await openTab({ colorScheme, viewport: { width, height: 860 } });
    mkdirSync(pictures, { recursive: true });
    for (const panel of PANELS) {
      await page.goto(`${origin}/ui/${panel}`);
      await page.locator("h1, .empty-title").first().waitFor();
      await page.locator(".live-live").waitFor({ state: "attached" });
      expect(await page.locator(".shimmer").count(), panel).toBe(0);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), panel).toBeLessThanOrEqual(width);
      // Every control has a name that a screen reader can say.
      const unnamed = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>("button, a, input, select, textarea")]
          .filter((element) => {
            const input = element as HTMLInputElement;
            const label = input.labels?.[0]?.textContent ?? "";
            return !(element.getAttribute("aria-label") || element.textContent?.trim() || label.trim());
          })
          .map((element) => element.outerHTML),
      );
      expect(unnamed, panel).toEqual([]);
      await page.screenshot({
        path: join(pictures, `${colorScheme}-${width}-${panel.replaceAll("/", "-") || "overview"}.png`),
      });
    }
    expect(problems).toEqual([]);
  });

  test("a call with a form: what is missing is named, the answer is shown, the call is kept", async () => {
    const { origin } = await start();
    const { page } = await openTab();
    await page.goto(`${origin}/ui/catalog/tools/one_add`);
    await page.getByRole("button", { name: "Call" }).click();
    await shows(page, "required");
    expect(await field(page, "a").getAttribute("aria-invalid")).toBe("true");
    await field(page, "a").fill("19");
    await field(page, "b").fill("23");
    await page.getByRole("button", { name: "Call" }).click();
    await page.locator(".result").getByText("42").first().waitFor();
    await page.getByRole("link", { name: "this call in full" }).click();
    await shows(page, "gateway, before");
    await page.getByRole("button", { name: "Call again" }).click();
    await page.locator(".run .result").getByText("42").first().waitFor();
    await page.getByRole("button", { name: "Show the messages" }).click();
    await page.locator("pre").getByText('"method":"tools/call"').waitFor();
    await page.locator("pre").getByText('"result":').waitFor();
    await page.goto(`${origin}/ui/calls`);
    await page.locator(".call").getByText("one_add").first().waitFor();
    expect(await page.locator(".call").count()).toBeGreaterThanOrEqual(2);
  });

  test("a server's question is answered in the page", async () => {
    const { origin } = await start();
    const { page } = await openTab();
    await page.goto(`${origin}/ui/catalog/tools/one_ask`);
    await field(page, "kind").selectOption('"elicitation"');
    await page.getByRole("button", { name: "Call" }).click();
    const question = page.getByRole("group", { name: "A question from the server" });
    await question.getByText("What is your name?").waitFor();
    await question.locator('[name="name"]').fill("Ada");
    await question.getByRole("button", { name: "Answer" }).click();
    await page.locator(".result").getByText("Ada").first().waitFor();
  });

  test("progress is shown while a call runs, and a call can be cancelled", async () => {
    const { server, origin } = await start();
    const { page } = await openTab();
    await page.goto(`${origin}/ui/catalog/tools/one_sleep`);
    await field(page, "ms").fill("100000");
    await page.getByRole("button", { name: "Call" }).click();
    await until(async () => JSON.stringify(await server.received("tools/call")).includes('"sleep"'));
    await page.getByRole("button", { name: "Cancel" }).click();
    await shows(page, "You cancelled the call");
    await until(async () => (await server.events("cancelled")).length > 0);
  });

  test("a resource is read and watched: an update arrives and is read again", async () => {
    const { server, origin } = await start();
    const { page } = await openTab();
    await page.goto(`${origin}/ui/catalog/resources/${encodeURIComponent("one+text:///hello")}`);
    await page.getByRole("button", { name: "Read" }).click();
    await shows(page, "hello 0");
    await page.getByRole("button", { name: "Watch" }).click();
    await shows(page, "subscribed, no update yet");
    await server.control("touch", { uri: "text:///hello" });
    await shows(page, "hello 1");
  });

  test("a prompt's arguments are completed by its server", async () => {
    const { origin } = await start();
    const { page } = await openTab();
    await page.goto(`${origin}/ui/catalog/prompts/one_greet`);
    await field(page, "name").fill("Ada");
    await page.getByRole("button", { name: "Get the prompt" }).click();
    await page.locator(".result").getByText("Ada").first().waitFor();
  });

  test("a server that dies is seen at once, and comes back by its button", async () => {
    const { server, origin } = await start();
    const { page } = await openTab();
    await page.goto(`${origin}/ui/servers/one`);
    await page.locator("h1 .state-ready").waitFor();
    server.setScript({ crashOnStart: true, exitOnStart: true });
    await server.kill("SIGKILL");
    await page.locator("h1 .state:not(.state-ready)").waitFor();
    server.setScript({});
    await page.getByRole("button", { name: "Restart" }).click();
    await page.locator("h1 .state-ready").waitFor();
  });

  test("the gateway goes away and comes back: the page says so and recovers by itself", async () => {
    const server = await startScripted({ name: "one" });
    const config = { mcpServers: { one: server.entry } };
    const first = await startGoblin(config);
    const { page } = await openTab();
    await page.goto(`${first.origin}/ui`);
    await page.locator(".live-live").waitFor();
    await first.gateway.close();
    await page.locator(".live-lost").waitFor();
    await page.getByRole("alert").getByText("connects again by itself").waitFor();
    await startGoblin({ ...config, gateway: { port: Number(new URL(first.origin).port) } });
    await page.locator(".live-live").waitFor();
  });

  test("with tokens, the page is locked; an admin's token or a one-time code opens it", async () => {
    const server = await startScripted({ name: "one" });
    const { origin } = await startGoblin({
      mcpServers: { one: server.entry },
      gateway: { auth: { tokens: ["a-client-token"] }, admin: { tokens: ["an-admin-token"] } },
    });
    const { page } = await openTab();
    await page.goto(`${origin}/ui`);
    await page.getByLabel("Admin token").fill("a-client-token");
    await page.getByRole("button", { name: "Open" }).click();
    await shows(page, "does not open the API");
    await page.getByLabel("Admin token").fill("an-admin-token");
    await page.getByRole("button", { name: "Open" }).click();
    await page.locator(".live-live").waitFor();
    await page.reload();
    await page.locator(".live-live").waitFor();
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: "goblin_page", httpOnly: true, sameSite: "Strict" });
    // The cookie alone, as another port of this host would see it, opens nothing.
    const stolen = { cookie: `goblin_page=${cookie!.value}`, "x-goblin-page": "guessed" };
    expect((await fetch(`${origin}/api/state`, { headers: stolen })).status).toBe(401);

    const made = await fetch(`${origin}/api/page`, {
      method: "POST",
      headers: { authorization: "Bearer an-admin-token", "content-type": "application/json" },
    });
    const { code } = (await made.json()) as { code: string };
    const other = (await openTab()).page;
    await other.goto(`${origin}/ui#code=${code}`);
    await other.locator(".live-live").waitFor();
    expect(other.url()).not.toContain(code);
    const late = (await openTab()).page;
    await late.goto(`${origin}/ui#code=${code}`);
    await late.getByLabel("Admin token").waitFor();
  });

  test("keys alone: go to a view, search, open an entry, call it, read the keys", async () => {
    const { origin } = await start();
    const { page } = await openTab();
    await page.goto(`${origin}/ui`);
    await page.locator(".live-live").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByRole("heading", { name: "Catalog" }).waitFor();
    await page.locator(".entry").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("one_add");
    await until(async () => (await page.locator(".entry").count()) === 1);
    for (let step = 0; step < 12; step++) {
      if (await page.evaluate(() => document.activeElement?.classList.contains("entry"))) break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "one_add" }).waitFor();
    await field(page, "a").focus();
    await page.keyboard.type("1");
    await page.keyboard.press("Tab");
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await page.locator(".result").getByText("3").first().waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
  });

  test("nothing that a server sends runs or deceives", async () => {
    const { server, origin } = await start();
    const { page, problems } = await openTab();
    const script = "window.__ran=1";
    const corpus = [
      `<img src=x onerror="${script}">`,
      `<script>${script}</script>`,
      `<svg onload="${script}"></svg>`,
      `[click](javascript:${script})`,
      `![x](javascript:${script})`,
      `"><iframe srcdoc="<script>parent.__ran=1</script>">`,
      "\u202egpj.exe\u0007\u001b[31m",
    ];
    const description = corpus.join("\n\n");
    const inputSchema = {
      type: "object",
      properties: Object.fromEntries(
        corpus.map((text) => [text, { type: "string", description: text, default: text }]),
      ),
    };
    await server.control("set_tools", {
      tools: [{ name: "evil", title: corpus[0], description, inputSchema }],
      keep: true,
    });
    const svg = Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" onload="${script}"><script>${script}</script></svg>`,
    );
    const result = {
      content: [
        ...corpus.map((text) => ({ type: "text", text })),
        { type: "image", data: svg.toString("base64"), mimeType: "image/svg+xml" },
        { type: "image", data: Buffer.from(`<script>${script}</script>`).toString("base64"), mimeType: "text/html" },
        { type: "audio", data: "AAAA", mimeType: `audio/x"><script>${script}</script>` },
        { type: "resource", resource: { uri: `javascript:${script}`, mimeType: "text/html", text: corpus[1] } },
        { type: "resource_link", uri: `javascript:${script}`, name: corpus[0] },
        { type: corpus[0], [corpus[1]!]: corpus[2] },
      ],
      structuredContent: { [corpus[0]!]: corpus[1] },
    };
    await page.goto(`${origin}/ui/catalog/tools/one_evil`);
    await page.getByText("Try it").waitFor();
    await page.goto(`${origin}/ui/catalog/tools/one_raw`);
    await page.locator('[name="result"]').fill(JSON.stringify(result));
    await page.getByRole("button", { name: "Call" }).click();
    await page.locator(".result img").first().waitFor();
    await page.goto(`${origin}/ui/catalog/tools?q=evil`);
    await page.locator(".entry").first().waitFor();
    for (const panel of ["calls", "logs", "servers/one"]) {
      await page.goto(`${origin}/ui/${panel}`);
      await page.locator("h1").waitFor();
    }
    await page.goto(`${origin}/ui/catalog/tools/one_raw`);
    await page.locator('[name="result"]').waitFor();
    expect(await page.evaluate(() => (window as { __ran?: number }).__ran)).toBeUndefined();
    expect(await page.evaluate(() => document.querySelectorAll("a[href^='javascript']").length)).toBe(0);
    // What was refused by the page's policy would be a hole that only the policy closes.
    expect(problems.filter((text) => !text.includes("data:")).filter((text) => /Content Security/.test(text))).toEqual(
      [],
    );
  });

  test("an app of a server runs in a frame that reaches neither the page nor the network", async () => {
    const { origin } = await start();
    const { page } = await openTab();
    const html = `<p id="out">…</p><script>
      let said = "sealed";
      try { parent.document.title = "taken"; said = "reached the page"; } catch {}
      fetch("${origin}/api/state").then(() => { said = "reached the API"; }, () => {}).finally(() => { out.textContent = said; });
    </script>`;
    const result = {
      content: [{ type: "resource", resource: { uri: "ui://one/app", mimeType: "text/html", text: html } }],
    };
    await page.goto(`${origin}/ui/catalog/tools/one_raw`);
    await page.locator('[name="result"]').fill(JSON.stringify(result));
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByRole("button", { name: "Run this app" }).click();
    await page.frameLocator("iframe").getByText("sealed").waitFor();
  });

  test("10 000 tools scroll like ten, and a result of 60 MB does not stop the page", async () => {
    const server = await startScripted({ name: "one", tools: 10_000 });
    const { origin } = await startGoblin({
      mcpServers: { one: server.entry },
      limits: { bodyBytes: 100_000_000 },
    });
    const { page } = await openTab();
    await page.goto(`${origin}/ui/catalog/tools`);
    await page.locator(".entry").first().waitFor();
    expect(await page.locator(".entry").count()).toBeLessThan(100);
    const list = page.getByRole("list", { name: "tools" });
    await list.evaluate((element) => {
      element.scrollTop = element.scrollHeight;
    });
    await until(async () => (await page.locator(".virtual-row").last().getAttribute("aria-posinset"))?.length === 5);
    expect(await page.locator(".entry").count()).toBeLessThan(100);
    await page.goto(`${origin}/ui/catalog/tools/one_big`);
    await field(page, "bytes").fill("60000000");
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByRole("button", { name: "more characters" }).first().waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });
});
