/**
 * The consent page in a real browser, as a person uses it: at the width of a phone, light and dark,
 * without scripts, up to the client's own address. Needs Chromium.
 */
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser as Chromium, chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { onDispose } from "../fixtures/dispose.ts";
import { handMade, type Paired, startPaired, type Tokens } from "../fixtures/pairing.ts";
import { disposeAll } from "../fixtures/peers.ts";

const program = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path !== undefined && existsSync(path));
const why = program === undefined ? "no Chromium: set CHROMIUM to its path" : undefined;
if (why !== undefined) console.log(`skipped: the consent page in a browser (${why})`);

describe.skipIf(why !== undefined)("the consent page", () => {
  let browser: Chromium;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: program!, args: ["--no-sandbox"] });
  });
  afterAll(() => browser.close());
  afterEach(disposeAll);

  /** A client with an address of its own, as a native app has it. */
  async function client(gateway: Paired) {
    const asked: { url: URL; referer: string | undefined }[] = [];
    const site = createServer((request, response) => {
      asked.push({ url: new URL(request.url!, "http://127.0.0.1"), referer: request.headers.referer });
      response.setHeader("content-type", "text/html");
      response.end("<title>Back at the client</title>");
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    onDispose(() => site.closeAllConnections());
    onDispose(() => void site.close());
    const redirect = `http://127.0.0.1:${(site.address() as AddressInfo).port}/callback`;
    const made = handMade(gateway);
    const id = await made.register({ client_name: "A <b>client</b>", redirect_uris: [redirect] });
    const url = made.authorizationUrl(id, { redirect_uri: redirect }).href;
    return { ...made, id, redirect, url, asked };
  }

  test.each(["light", "dark"] as const)("works on a phone, %s, without scripts", async (colorScheme) => {
    const gateway = await startPaired();
    const { url, asked, id, exchange, redirect } = await client(gateway);
    const context = await browser.newContext({
      viewport: { width: 360, height: 740 },
      colorScheme,
      javaScriptEnabled: false,
      isMobile: true,
    });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    await page.goto(url);
    expect(await page.title()).toBe("Connect a client – Goblin");
    expect(await page.locator("h1").textContent()).toBe("Let A <b>client</b> use your Goblin?");
    expect(await page.locator("dl").textContent()).toContain(new URL(redirect).host);
    const box = (await page.locator("button", { hasText: "Connect" }).boundingBox())!;
    expect(box.x + box.width).toBeLessThanOrEqual(360);
    expect(box.height).toBeGreaterThanOrEqual(44);
    const main = (await page.locator("main").boundingBox())!;
    expect(main.width).toBeLessThanOrEqual(360);

    await page.getByLabel("Code").fill("1234 5678");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("alert").textContent()).toContain("That is not the code");

    await page.getByLabel("Code").fill(await gateway.code());
    await page.keyboard.press("Enter");
    await page.waitForURL((at) => at.pathname === "/callback");
    const [callback] = asked.filter((one) => one.url.pathname === "/callback");
    expect(callback!.referer).toBeUndefined();
    expect(callback!.url.searchParams.get("iss")).toBe(gateway.issuer);
    const answer = await exchange(id, callback!.url.searchParams.get("code")!, { redirect_uri: redirect });
    expect(((await answer.json()) as Tokens).access_token).toMatch(/^ey/);
    // A style or a form that the policy refuses would show up here.
    expect(complaints.filter((text) => /policy|refused/i.test(text))).toEqual([]);
    await context.close();
  });

  test("cancels", async () => {
    const gateway = await startPaired();
    const { url, asked } = await client(gateway);
    const page = await browser.newPage();
    await page.goto(url);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.waitForURL((at) => at.pathname === "/callback");
    expect(asked[0]!.url.searchParams.get("error")).toBe("access_denied");
    await page.close();
  });

  test("cannot be framed, nor sent by another site", async () => {
    const gateway = await startPaired();
    const { url } = await client(gateway);
    const page = await browser.newPage();
    // Another site, in the browser's eyes: localhost is not 127.0.0.1.
    const evil = createServer((_request, response) => {
      response.setHeader("content-type", "text/html");
      response.end(`<iframe src="${url.replaceAll("&", "&amp;")}"></iframe>
<form method="post" action="${gateway.issuer}/oauth/authorize"><input name="ticket" value="x"><button>Go</button></form>`);
    });
    await new Promise<void>((resolve) => evil.listen(0, "localhost", resolve));
    onDispose(() => evil.closeAllConnections());
    onDispose(() => void evil.close());
    await page.goto(`http://localhost:${(evil.address() as AddressInfo).port}/`);
    const frame = page.frames()[1];
    expect(await frame?.content()).not.toContain("goblin pair");
    await page.getByRole("button", { name: "Go" }).click();
    await page.waitForURL((at) => at.pathname === "/oauth/authorize");
    expect(await page.content()).toMatch(/did not work|not allowed/);
    await page.close();
  });
});
