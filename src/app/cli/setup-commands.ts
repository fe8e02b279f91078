/** The commands about MCP clients on this machine. Each loads when it is used. */
import { type Command, Option } from "commander";

/** `done` takes a command's exit code. */
export function addSetupCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  const about = (command: Command): Command =>
    command.option("-c, --config <file>", "config file").option("--json", "print JSON");
  about(program.command("clients"))
    .description("list the MCP clients on this machine, and which use the gateway")
    .option("-a, --all", "also those that are not there")
    .action((options) => done(import("./clients/list.ts").then((it) => it.listClients(options))));
  about(program.command("import").argument("[client...]", "clients to take servers from (default: all)"))
    .description("add the servers of MCP clients to your goblin.json")
    .option("--project", "the servers of the project in this folder, not yours: look at them first with --dry-run")
    .option("--secrets", "move secrets in plain text into your store (goblin secret)")
    .option("--dry-run", "show what would be added")
    .action((ids, options) => done(import("./clients/import.ts").then((it) => it.importServers(ids, options))));
  about(program.command("install").argument("[client...]", "clients that shall use the gateway"))
    .description("add the gateway to MCP clients' settings")
    .option("-a, --all", "all clients on this machine")
    .option("--project", "the settings of the project in this folder, not the user's")
    .addOption(
      new Option("--mode <mode>", "how clients reach it (default: http where they can)").choices(["http", "stdio"]),
    )
    .option("-p, --profile <name>", "let them see only this profile of the config")
    .option("--per-server", "write one entry for each server, under its own names")
    .option("--url <url>", "the gateway's address (default: the config's)")
    .option("--dry-run", "show what would change")
    .action((ids, options) => done(import("./clients/install.ts").then((it) => it.install(ids, options))));
  about(program.command("uninstall").argument("[client...]", "clients (default: all)"))
    .description("remove the gateway from MCP clients' settings")
    .option("-a, --all", "all clients")
    .option("--dry-run", "show what would change")
    .action((ids, options) => done(import("./clients/install.ts").then((it) => it.uninstall(ids, options))));
  program
    .command("skill")
    .description("write a SKILL.md, for agents that prefer a shell")
    .option(
      "--dir <folder>",
      "the folder of skills (default: ~/.claude/skills if there is ~/.claude, else ~/.agents/skills)",
    )
    .option("--print", "print it instead")
    .option("--json", "print JSON")
    .action((options) => done(import("./skill/skill.ts").then((it) => it.skill(options))));
  program
    .command("undo")
    .argument("[id]", "the change to undo (default: the last)")
    .description("undo what install, uninstall, import, skill or the wizard changed")
    .option("-a, --all", "return every client to its own servers")
    .option("-l, --list", "list changes that can be undone")
    .option("--json", "print JSON")
    .action((id, options) => done(import("./clients/undo.ts").then((it) => it.undo(id, options))));
}
