/** The commands about named secrets. Each loads when it is used. */
import type { Command } from "commander";

/** `done` takes a command's exit code. */
export function addSecretCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  const secret = program.command("secret").description("keep secrets for configs, used there as ${keychain:NAME}");
  secret
    .command("set")
    .argument("<name>", "the secret's name")
    .description("set a secret; its value comes from stdin or is asked for")
    .allowExcessArguments()
    .action((name, _, { args }: Command) =>
      done(import("./secrets/secret.ts").then((it) => it.setSecret(name, args.length > 1))),
    );
  secret
    .command("list")
    .description("list the names of the secrets")
    .option("--json", "print JSON")
    .action((options) => done(import("./secrets/secret.ts").then((it) => it.listSecrets(options))));
  secret
    .command("rm")
    .argument("<name...>", "the secrets' names")
    .description("remove secrets")
    .action((names) => done(import("./secrets/secret.ts").then((it) => it.removeSecrets(names))));
}
