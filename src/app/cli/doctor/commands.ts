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
  program
    .command("preflight")
    .argument("<tool...>", "names, as listed, or server/name")
    .description("check that tools are there and usable, for CI; exit code 0, 10 retry, 11 blocked, 12 unknown")
    .option("--as <principal>", "for this principal, by rules and profiles")
    .option("--profile <name>", "at the endpoint of this profile")
    .option("-u, --url <url>", "a running gateway (default: the one that this folder's config would start)")
    .option("-t, --token <token>", "its admin token (default: $GOBLIN_TOKEN)")
    .option("-c, --config <file>", "start this config's servers; needs no running gateway")
    .option("--json", "print JSON")
    .action((names, options) => done(import("./preflight.ts").then((it) => it.preflight(names, options))));
}
