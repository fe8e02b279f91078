/** The commands about clients that a person lets in. Each loads when it is used. */
import type { Command } from "commander";

/** `done` takes a command's exit code. */
export function addPairingCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  const about = (command: Command): Command =>
    command.option("-c, --config <file>", "config file").option("--json", "print JSON");
  about(program.command("pair"))
    .description("print a code that lets one client in, and wait until it is used")
    .option("--no-wait", "only print the code")
    .action((options) => done(import("./pair.ts").then((it) => it.pair(options))));
  const grants = about(program.command("grants"))
    .description("list the clients that were let in with a code")
    .action((options) => done(import("./grants.ts").then((it) => it.grants(options))));
  grants
    .command("revoke")
    .argument("[id...]", "as listed")
    .description("end grants; their clients are disconnected at once")
    .option("--all", "end all grants of this gateway")
    // "--config" is an option of "grants".
    .action((ids, _, command: Command) =>
      done(import("./grants.ts").then((it) => it.revoke(ids, command.optsWithGlobals()))),
    );
}
