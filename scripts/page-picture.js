/**
 * Makes docs/page.png, the picture in the README: the real page of a gateway with the demo servers,
 * in a real browser, after some calls. Needs chromium.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import { startDemo } from "./pictures/demo.js";

const TARGET = new URL("../docs/page.png", import.meta.url).pathname;
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const [WIDTH, HEIGHT] = [1280, 860];
/** The charts show the last seconds. This number of calls fills them. */
const CALLS = 190;

const demo = await startDemo();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
try {
  await demo.ready();
  const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT }, colorScheme: "dark" });
  await page.goto(`${demo.url}/ui`);
  await page.locator(".live-live").waitFor();
  await demo.calls(CALLS);
  await sleep(200);
  await page.screenshot({ path: TARGET });
} finally {
  await browser.close();
  await demo.end();
}
