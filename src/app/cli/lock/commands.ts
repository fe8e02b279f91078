/** The commands about the lock file. They load when they are used. */
import type { Command } from "commander";

/** `done` takes a command's exit code. */
export function addLockCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  const lock = program
    .command("lock")
    .description("write what new servers offer to goblin.lock; exit code 1 if something is not approved")
    .option("-u, --url <url>", "a running gateway (default: the one that this folder's config would start)")
    .option("-t, --token <token>", "its admin token (default: $GOBLIN_TOKEN)")
    .option("-c, --config <file>", "start this config's servers; needs no running gateway")
    .option("--json", "print JSON")
    .action((options) => done(import("./lock.ts").then((it) => it.lock(options))));
  lock
    .command("verify")
    .argument("[server]", "only this server")
    .description("compare servers with goblin.lock, for CI; exit code 0 same, 1 different, 2 not known")
    .option("--sarif", "print SARIF, for code scanning")
    .action((server, _, command: Command) =>
      done(import("./lock.ts").then((it) => it.verify(server, command.optsWithGlobals()))),
    );
  lock
    .command("diff")
    .argument("[server]", "only this server")
    .description("show what is different, side by side; exit codes as of verify")
    .action((server, _, command: Command) =>
      done(import("./lock.ts").then((it) => it.diff(server, command.optsWithGlobals()))),
    );
  lock
    .command("approve")
    .argument("<server>", "its id; one that is no longer in the config is removed from the file")
    .description("write what a server offers now to goblin.lock")
    .option("--expect <digest>", "only if this is its digest, as goblin lock diff shows it")
    .action((server, _, command: Command) =>
      done(import("./lock.ts").then((it) => it.approve(server, command.optsWithGlobals()))),
    );
  lock
    .command("switch")
    .argument("<server>", "its id")
    .description("let a new version of a server take over that waits for an approval, without one")
    .option("--expect <digest>", "its digest, as goblin lock diff shows it")
    .action((server, _, command: Command) =>
      done(import("./lock.ts").then((it) => it.switchTo(server, command.optsWithGlobals()))),
    );
}
