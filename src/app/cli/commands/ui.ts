/**
 * `goblin ui`: opens the page of a running gateway in the browser.
 *
 * Invariant: the link carries a one-time code in its fragment, which no server and no log sees; the
 * admin's token never leaves this process.
 */
import { adminRoutes } from "../../../admin/api/routes.ts";
import type { GatewayOptions } from "../gateway/find-gateway.ts";
import { withTarget } from "../gateway/target.ts";
import { openBrowser } from "../logins/browser.ts";

export function ui(options: GatewayOptions & { readonly browser?: boolean }): Promise<number> {
  return withTarget(options, async (target) => {
    const { code } = await target.request(adminRoutes.openPage);
    const link = new URL("/ui", target.adminUrl);
    link.hash = new URLSearchParams({ code }).toString();
    const isOpen = options.browser !== false && (await openBrowser(link.href));
    // Without a browser, the link is what was asked for.
    if (!isOpen) console.log(link.href);
    else console.log(`Opened ${link.origin}${link.pathname} in your browser`);
    return 0;
  });
}
