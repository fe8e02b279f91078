/** `goblin tui`: the terminal dashboard, attached to a running gateway. */
import { findGateway, type GatewayOptions } from "../gateway/find-gateway.ts";
import { openBrowser } from "../logins/browser.ts";

export async function tui(options: GatewayOptions): Promise<number> {
  const { adminUrl, token } = await findGateway(options);
  // Loads Ink and React on demand.
  const { runTui } = await import("../../../admin/tui/index.ts");
  return runTui({ url: adminUrl, token, openUrl: openBrowser });
}
