/** The launchd of macOS, in the session of the logged-in user. Its log is where Console looks. */
import { posix } from "node:path";
import { launchAgent } from "./launch-agent.ts";
import { ServiceError } from "./service-error.ts";
import type { Manager, ManagerOptions } from "./service-system.ts";

const LABEL = "com.goblin-mcp.gateway";

export function launchdManager({ machine, run, userId }: ManagerOptions): Manager {
  const domain = `gui/${userId}`;
  const file = posix.join(machine.home, "Library/LaunchAgents", `${LABEL}.plist`);
  const log = posix.join(machine.home, "Library/Logs/goblin.log");
  async function must(...args: string[]): Promise<void> {
    const { code, complaint } = await run("launchctl", ...args);
    if (code !== 0) throw new ServiceError(`launchctl ${args.join(" ")}: ${complaint}`);
  }

  return {
    file,
    logs: `tail -f ${log.replace(/[^\w/.-]/g, "\\$&")}`,
    hints: ["It starts when you log in."],
    bytesOf: (text) => Buffer.from(text),
    textFor: (definition) => launchAgent({ ...definition, label: LABEL, log }),
    async environment() {
      const { code } = await run("launchctl", "print", domain);
      if (code === undefined) throw new ServiceError("there is no launchctl on the PATH: is /bin on it?");
      if (code !== 0)
        throw new ServiceError("you are not logged in at the screen of this Mac: log in there, and try again there");
      return { HOME: machine.home, USER: machine.env["USER"] ?? "" };
    },
    async start() {
      await run("launchctl", "bootout", `${domain}/${LABEL}`);
      await must("enable", `${domain}/${LABEL}`);
      await must("bootstrap", domain, file);
    },
    async stop() {
      const { code } = await run("launchctl", "print", `${domain}/${LABEL}`);
      if (code === 0) await must("bootout", `${domain}/${LABEL}`);
    },
    forget: async () => {},
    async state() {
      const { code, out } = await run("launchctl", "print", `${domain}/${LABEL}`);
      if (code !== 0) return "stopped";
      if (/^\s*state = running$/m.test(out)) return "running";
      return /^\s*last exit code = (0|\(never exited\))/m.test(out) ? "stopped" : "failed";
    },
  };
}
