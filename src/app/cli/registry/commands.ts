/** The commands that put servers into a config and take them out. Each loads when it is used. */
import type { Command } from "commander";

/** `done` takes a command's exit code. */
export function addRegistryCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  const about = (command: Command): Command =>
    command.option("-c, --config <file>", "config file").option("--json", "print JSON");
  about(program.command("search").argument("<words...>", "what the server should do"))
    .description("search the MCP registries for servers")
    .option("-n, --limit <count>", "how many to show", "10")
    .option("--refresh", "read the registries' lists again")
    .action((words, options) => done(import("./search.ts").then((it) => it.search(words, options))));
  about(
    program
      .command("add")
      .argument("<server>", "a registry's name, npm:<package>, pypi:<package>, oci:<image>, a URL, or an .mcpb file")
      .argument("[args...]", "arguments for the server, after --"),
  )
    .description("add a server to the config, with its version pinned, and connect once")
    .option("--name <id>", "its name in the config")
    .option("--set <key=value...>", "answers to what it asks for, except secrets")
    .option("--remote", "use the server's own address, if it has one, instead of a package")
    .option("-y, --yes", "do not ask whether to add it")
    .action((server, args, options) => done(import("./add.ts").then((it) => it.add(server, args, options))));
  const edits = {
    remove: "remove servers from the config",
    enable: "switch servers of the config on",
    disable: "switch servers of the config off, and keep them",
  } as const;
  for (const [name, description] of Object.entries(edits) as [keyof typeof edits, string][]) {
    about(program.command(name).argument("<server...>", "the servers' names in the config"))
      .description(description)
      .action((ids, options) => done(import("./edit-servers.ts").then((it) => it.editServers(name, ids, options))));
  }
  about(program.command("outdated").argument("[server...]", "servers of the config (default: all)"))
    .description("compare pinned versions with the newest; exit code 1 if one is older")
    .action((ids, options) => done(import("./outdated.ts").then((it) => it.outdated(ids, options))));
}
