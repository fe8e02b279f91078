/** Opens the gateway's login page for a server, in a tab of its own. */
import { post } from "../api.ts";

/** Returns what happens next, in words. Rejects with the reason if there is no such page. */
export async function logIn(serverId: string): Promise<string> {
  // Opened now: a browser blocks windows that do not follow a click at once.
  const tab = window.open("", "_blank");
  try {
    const { url } = await post<{ url: string }>(`/api/servers/${encodeURIComponent(serverId)}/login`);
    if (tab) tab.location.href = url;
    else location.href = url;
    return `The login to ${serverId} goes on in a new tab.`;
  } catch (error) {
    tab?.close();
    throw error;
  }
}
