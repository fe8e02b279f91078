/**
 * `goblin ui`: opens the page of a running gateway in the browser.
 *
 * Invariant: the link carries a one-time code in its fragment, which no server and no log sees; the
 * admin's token never leaves this process.
 */
import { adminRoutes } from "../../admin/routes.ts";
import { createAdminClient } from "../../tui/client.ts";
import { findGateway, type GatewayOptions } from "../gateway/find-gateway.ts";
import { openBrowser } from "../logins/browser.ts";

export async function ui({ browser, ...options }: GatewayOptions & { readonly browser?: boolean }): Promise<number> {
  const { adminUrl, token } = await findGateway(options);
  const { code } = await createAdminClient({ url: adminUrl, token }).request(adminRoutes.openPage);
  const link = new URL("/ui", adminUrl);
  link.hash = new URLSearchParams({ code }).toString();
  const isOpen = browser !== false && (await openBrowser(link.href));
  // Without a browser, the link is what was asked for.
  if (!isOpen) console.log(link.href);
  else console.log(`Opened ${link.origin}${link.pathname} in your browser. The link works once, for two minutes.`);
  return 0;
}
