/** The commands that run the gateway as a service. Each loads when it is used. */
import type { Command } from "commander";

/** `done` takes a command's exit code. */
export function addServiceCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  const service = program.command("service").description("run the gateway whenever you are logged in");
  service
    .command("install")
    .description("start the gateway now and at each login: a systemd unit, a launchd agent or a Windows task")
    .option("-c, --config <file>", "config file (default: your own)")
    .option("--dry-run", "show the file that would be written")
    .option("--json", "print JSON")
    .action((options) => done(import("./service.ts").then((it) => it.installService(options))));
  service
    .command("uninstall")
    .description("stop the gateway, and remove the service")
    .option("--dry-run", "show what would be removed")
    .option("--json", "print JSON")
    .action((options) => done(import("./service.ts").then((it) => it.uninstallService(options))));
  service
    .command("status")
    .description("whether the service runs, and where its log is; exit code 1 if it does not run")
    .option("--json", "print JSON")
    .action((options) => done(import("./service.ts").then((it) => it.serviceStatus(options))));
  service
    .command("run", { hidden: true })
    .requiredOption("-c, --config <file>")
    .requiredOption("--log <file>")
    .action((options) => done(import("./run.ts").then((it) => it.runWithLog(options))));
}
