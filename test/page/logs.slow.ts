/** The Log panel in a real browser, on a phone: a long line can be read to its end. */
import { afterAll, afterEach, expect, test } from "vitest";
import { chromiumPath, closeChromium, openTab } from "../fixtures/chromium.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll } from "../fixtures/peers.ts";

afterEach(disposeAll);
afterAll(closeChromium);

test.skipIf(chromiumPath === undefined)("a line that is cut is shown in full by a press or a key", async () => {
  const { origin } = await startGoblin({ mcpServers: { dead: { command: "no-such-program" } } });
  const { page } = await openTab({ viewport: { width: 390, height: 844 } });
  await page.goto(`${origin}/ui/logs?level=warn`);
  const line = page.locator(".log").first();
  const isCut = () => line.locator(".log-text").evaluate((text) => text.scrollWidth > text.clientWidth);
  await line.waitFor();
  expect([await line.getAttribute("aria-expanded"), await isCut()]).toEqual(["false", true]);
  await line.click();
  expect([await line.getAttribute("aria-expanded"), await isCut()]).toEqual(["true", false]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await line.press("Enter");
  expect([await line.getAttribute("aria-expanded"), await isCut()]).toEqual(["false", true]);
});
