/**
 * Opens a URL in the user's browser.
 *
 * The URL comes from a server's metadata: it never passes a shell, and only http and https URLs are
 * opened.
 */
import { spawn } from "node:child_process";

/** Resolves to false if no browser could be started. */
export function openBrowser(url: string): Promise<boolean> {
  const { protocol, href } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return Promise.resolve(false);
  const [command, ...args] = opener();
  return new Promise((resolve) => {
    const child = spawn(command!, [...args, href], { stdio: "ignore", detached: true, shell: false });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

function opener(): string[] {
  const own = process.env["BROWSER"]?.split(":", 1)[0];
  if (own) return [own];
  if (process.platform === "darwin") return ["open"];
  // Not `start`, which is a command of the shell.
  if (process.platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}
