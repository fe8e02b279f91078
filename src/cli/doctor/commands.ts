/** The commands for the day something does not work. Each loads when it is used. */
import type { Command } from "commander";

/** `done` takes a command's exit code. */
export function addDoctorCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  program
    .command("doctor")
    .argument("[server]", "examine this server only")
    .description("examine servers, config, clients and this machine; exit code 1 if something is broken")
    .option("--direct", "ask servers directly and through Goblin, and show every difference")
    .option("--fix", "do what is safe, and say what was done")
    .option("-u, --url <url>", "a running gateway (default: the one that this folder's config would start)")
    .option("-t, --token <token>", "its admin token (default: $GOBLIN_TOKEN)")
    .option("-c, --config <file>", "start this config's servers for the examination; needs no running gateway")
    .option("--json", "print JSON")
    .action((server, options) =>
      done(
        options.direct
          ? import("./direct.ts").then((it) => it.compareDirect(server, options))
          : import("./doctor.ts").then((it) => it.doctor(server, options)),
      ),
    );
}
