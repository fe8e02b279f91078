/** The systemd of the user. Its log is the user's journal. */
import { posix } from "node:path";
import type { ToolResult } from "./run-tool.ts";
import { ServiceError } from "./service-error.ts";
import type { Manager, ManagerOptions, ServiceState } from "./service-system.ts";
import { systemdUnit } from "./systemd-unit.ts";

const UNIT = "goblin.service";
const STATES: Readonly<Record<string, ServiceState>> = {
  active: "running",
  activating: "starting",
  reloading: "running",
  failed: "failed",
};

export function systemdManager({ machine, run, isContainer }: ManagerOptions): Manager {
  const { env, home } = machine;
  const systemctl = (...args: string[]): Promise<ToolResult> => run("systemctl", "--user", ...args);
  async function must(...args: string[]): Promise<void> {
    const { code, complaint } = await systemctl(...args);
    if (code !== 0) throw new ServiceError(`systemctl --user ${args.join(" ")}: ${complaint}`);
  }

  return {
    file: posix.join(env["XDG_CONFIG_HOME"] || posix.join(home, ".config"), "systemd/user", UNIT),
    logs: "journalctl --user -u goblin -f",
    hints: ["It runs while you are logged in. To keep it running: loginctl enable-linger"],
    bytesOf: (text) => Buffer.from(text),
    textFor: systemdUnit,
    async environment() {
      const { code, out, complaint } = await systemctl("show-environment");
      if (code === 0) return variablesIn(out);
      const why = code === undefined ? "there is no systemctl" : complaint;
      throw new ServiceError(`there is no systemd for your user here (${why}): ${remedy(isContainer, env)}`);
    },
    async start() {
      await must("daemon-reload");
      await must("enable", UNIT);
      // What failed too often may be started again now.
      await systemctl("reset-failed", UNIT);
      await must("restart", UNIT);
    },
    stop: () => must("disable", "--now", UNIT),
    async forget() {
      await systemctl("daemon-reload");
    },
    async state() {
      const { out } = await systemctl("show", UNIT, "--property=ActiveState");
      return STATES[/^ActiveState=(.*)$/m.exec(out)?.[1] ?? ""] ?? "stopped";
    },
  };
}

function remedy(isContainer: boolean, env: Readonly<Record<string, string | undefined>>): string {
  if (isContainer)
    return 'in a container, make "goblin serve --config <file>" its command, with a restart policy (docker run --restart)';
  if (env["WSL_DISTRO_NAME"])
    return 'add "[boot]" and "systemd=true" to /etc/wsl.conf, then run wsl --shutdown in Windows';
  if (!env["XDG_RUNTIME_DIR"])
    return "log in as this user itself, not with su or sudo (or: machinectl shell), so that XDG_RUNTIME_DIR is set";
  return 'have the service manager that you use run "goblin serve --config <file>"';
}

/** Values with special characters are quoted for a shell; no path of interest is. */
function variablesIn(out: string): Record<string, string> {
  const pairs = out.split("\n").flatMap((line) => {
    const at = line.indexOf("=");
    return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1).replace(/^\$?'(.*)'$/, "$1")] as const];
  });
  return Object.fromEntries(pairs);
}
