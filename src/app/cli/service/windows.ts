/** The Task Scheduler of Windows. A task's output goes nowhere, so `service run` keeps a log. */
import { win32 } from "node:path";
import { scheduledTask } from "./scheduled-task.ts";
import { ServiceError } from "./service-error.ts";
import type { Manager, ManagerOptions } from "./service-system.ts";

const NAME = "goblin-mcp";
const BYTE_ORDER_MARK = "\ufeff";

export function windowsManager({ machine, run, stateFolder }: ManagerOptions): Manager {
  const { USERDOMAIN: domain, USERNAME: name = "" } = machine.env;
  const log = win32.join(stateFolder, "service.log");
  const file = win32.join(stateFolder, "service.xml");
  async function must(...args: string[]): Promise<void> {
    const { code, complaint } = await run("schtasks", ...args);
    if (code !== 0) throw new ServiceError(`schtasks ${args.join(" ")}: ${complaint}`);
  }

  return {
    file,
    logs: `Get-Content -Wait "${log}"`,
    hints: ["It starts when you log in."],
    // The Task Scheduler reads no other encoding.
    bytesOf: (text) => Buffer.from(BYTE_ORDER_MARK + text, "utf16le"),
    textFor: (definition) => scheduledTask({ ...definition, log, user: domain ? `${domain}\\${name}` : name }),
    async environment() {
      const { code } = await run("schtasks", "/Query", "/FO", "LIST");
      if (code === undefined) throw new ServiceError("there is no schtasks on the PATH: is System32 on it?");
      return undefined;
    },
    async start() {
      await run("schtasks", "/End", "/TN", NAME);
      await must("/Create", "/TN", NAME, "/XML", file, "/F");
      await must("/Run", "/TN", NAME);
    },
    async stop() {
      const { code } = await run("schtasks", "/Query", "/TN", NAME);
      if (code !== 0) return;
      await run("schtasks", "/End", "/TN", NAME);
      await must("/Delete", "/TN", NAME, "/F");
    },
    forget: async () => {},
    async state() {
      // Not the words of the list, which are in the user's language: 0x41301 means that it runs.
      const question = `(Get-ScheduledTaskInfo -TaskName ${NAME}).LastTaskResult`;
      const { code, out } = await run("powershell", "-NoProfile", "-NonInteractive", "-Command", question);
      const result = Number(out.trim());
      if (code !== 0 || Number.isNaN(result)) return "stopped";
      if (result === STILL_RUNNING) return "running";
      return result === 0 || result === NEVER_RAN || result === ENDED_BY_USER ? "stopped" : "failed";
    },
  };
}

const STILL_RUNNING = 0x41301;
const NEVER_RAN = 0x41303;
const ENDED_BY_USER = 0x41306;
