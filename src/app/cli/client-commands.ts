/** The commands that use a gateway, with their shared options. Each loads when it is used. */
import type { Command } from "commander";
import { listKinds, shells } from "./choices.ts";

/** `done` takes a command's exit code. */
export function addClientCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  const client = (command: Command): Command =>
    command
      .option(
        "-u, --url <url>",
        "a running gateway (default: the one that this folder's config would start, or port 3000)",
      )
      .option("-t, --token <token>", "its bearer token (default: $GOBLIN_TOKEN)")
      .option("-c, --config <file>", "start this config's servers for this command; needs no running gateway")
      .option("--json", "print JSON");
  const saving = (command: Command): Command =>
    client(command)
      .option("-p, --profile <name>", "as clients of this profile see it")
      .option("-o, --out <folder>", "save images, audio and other bytes there");

  client(
    program
      .command("status")
      .description("show the health of a gateway and its servers; exit code 1 if one is not ready"),
  ).action((options) => done(import("./commands/status.ts").then((it) => it.status(options))));
  client(
    program
      .command("list")
      .argument("[what]", listKinds.join(" | "))
      .description("list the gateway's tools, prompts, resources or servers"),
  )
    .option("-s, --server <id>", "only this server's")
    .option("-p, --profile <name>", "as clients of this profile see it")
    .action((what, options) => done(import("./commands/list.ts").then((it) => it.list(what, options))));
  const call = saving(
    program
      .command("call")
      .usage("<tool> [key=value...] [options]")
      .argument("[tool]", "its name, as listed")
      .argument("[key=value...]", "its arguments: key=text, key:=json, key=@file, key=@- for stdin")
      .description("call a tool; exit code 1 if it fails"),
  )
    .option("-a, --args <json>", "arguments as a JSON object; - reads it from stdin")
    .option("--pick <path>", "print only this part of the result, such as items[0].name; $ is the whole")
    .helpOption(false)
    .option("-h, --help", "with a tool: what it takes and returns");
  call.action((name: string | undefined, pairs, options) => {
    if (name === undefined && options.help) return call.outputHelp();
    if (name === undefined) return call.error("error: missing required argument 'tool'");
    return done(import("./commands/call.ts").then((it) => it.call(name, pairs, options)));
  });
  saving(
    program.command("read").argument("<uri>", "as listed, or as its server names it").description("read a resource"),
  ).action((uri, options) => done(import("./commands/read.ts").then((it) => it.read(uri, options))));
  saving(
    program
      .command("prompt")
      .argument("<name>", "its name, as listed")
      .argument("[key=value...]", "its arguments")
      .description("get a prompt"),
  ).action((name, pairs, options) =>
    done(import("./commands/prompt.ts").then((it) => it.prompt(name, pairs, options))),
  );
  client(program.command("tokens").description("show the token cost of the tools, and of shorter tool lists")).action(
    (options) => done(import("./commands/tokens.ts").then((it) => it.tokens(options))),
  );
  program
    .command("ui")
    .description("open the page of a running gateway in the browser")
    .option("-u, --url <url>", "a running gateway (default: the one that this folder's config would start)")
    .option("-t, --token <token>", "its admin token (default: $GOBLIN_TOKEN)")
    .option("--no-browser", "print the link, which works once")
    .action((options) => done(import("./commands/ui.ts").then((it) => it.ui(options))));
  program
    .command("tui")
    .description("show the dashboard of a running gateway in the terminal")
    .option("-u, --url <url>", "a running gateway (default: the one that this folder's config would start)")
    .option("-t, --token <token>", "its bearer token (default: $GOBLIN_TOKEN)")
    .action((options) => done(import("./commands/tui.ts").then((it) => it.tui(options))));
  program
    .command("completion")
    .argument("<shell>", shells.join(" | "))
    .description('print a shell completion; for bash: eval "$(goblin completion bash)"')
    .action((shell) => done(import("./commands/completion.ts").then((it) => it.completion(shell))));
  program
    .command("complete", { hidden: true })
    .requiredOption("--line <line>")
    .action(({ line }) => done(import("./commands/completion.ts").then((it) => it.complete(line, program))));
}
