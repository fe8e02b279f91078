/**
 * The command line: its commands, options and error output. Each command has its own file; only
 * these files use `console`. Exit codes: 0 success, 1 failure, 2 wrong usage. Only the commands
 * that run a gateway load it, because shell completion must be fast.
 */
import { Command, Option } from "commander";
import { version } from "../../lib/package/version.ts";
import { addApprovalCommands } from "./approvals/commands.ts";
import { addClientCommands } from "./client-commands.ts";
import { check } from "./commands/check.ts";
import { addDoctorCommands } from "./doctor/commands.ts";
import { minutes, portNumber } from "./environment.ts";
import { addLockCommands } from "./lock/commands.ts";
import { addLoginCommands } from "./login-commands.ts";
import { addLogCommands } from "./logs/commands.ts";
import { addPairingCommands } from "./pairing/commands.ts";
import { addPolicyCommands } from "./policy/commands.ts";
import { addRecordingCommands } from "./recordings/commands.ts";
import { addRegistryCommands } from "./registry/commands.ts";
import { reportError } from "./report-error.ts";
import { addSecretCommands } from "./secret-commands.ts";
import { addServiceCommands } from "./service/commands.ts";
import { addSetupCommands } from "./setup-commands.ts";

type Done = (action: Promise<number>) => Promise<void>;

export async function run(argv: readonly string[]): Promise<number> {
  let code = 0;
  const json = argv.includes("--json");
  const done: Done = (action) =>
    action.then((result) => {
      code = result;
    });
  const program = new Command("goblin")
    .description("One MCP endpoint in front of all your MCP servers.")
    .version(version, "-V, --version")
    .option("-v, --verbose", "show stack traces")
    .showSuggestionAfterError()
    // Commands inherit both settings. With --json an error is printed once, as JSON.
    .configureOutput(json ? { outputError: () => {} } : {})
    .exitOverride();

  addGatewayCommands(program, done);
  // A gateway would keep the others in memory for as long as it runs.
  const runsGateway = program.commands.some((command) => command.name() === argv[0]);
  if (!runsGateway) addOtherCommands(program, done);

  try {
    if (argv.length === 0) return await (await import("./wizard/first-run.ts")).firstRun(() => program.outputHelp());
    await program.parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    return reportError(error, { verbose: program.opts()["verbose"] === true, json });
  }
}

function addGatewayCommands(program: Command, done: Done): void {
  program
    .command("serve")
    .description("run the gateway over HTTP; without a config, on embedded demo servers")
    .option(
      "-c, --config <file>",
      "config file (default: $GOBLIN_CONFIG, ./goblin.json, ./.mcp.json, the user's config folder)",
    )
    .option("--host <host>", "interface to listen on (default: $GOBLIN_HOST, then the config's)")
    .option("-p, --port <port>", "port to listen on; 0 picks a free one (default: $GOBLIN_PORT)", portNumber)
    .option("--tui", "show the dashboard; the log goes there")
    .option("--stop-when-idle <minutes>", "stop after this time without a connection", minutes)
    .addOption(new Option("--background", "started by a client").hideHelp())
    .addOption(new Option("--workers [number]", "refused; its error names the replacement").hideHelp())
    .action(async (options) => done((await import("./commands/serve.ts")).serve(options)));
  program
    .command("stdio")
    .description("run the gateway on stdin and stdout, for clients that start it themselves")
    .option("-c, --config <file>", "config file")
    .option("-p, --profile <name>", "show only this profile of the config")
    .option("-s, --server <id>", "show only this server, under its own names")
    .option("--attach", "be a pipe into the running gateway; start one in the background if there is none")
    .option("-u, --url <url>", "with --attach: the gateway (default: the config's)")
    .option("--stop-when-idle <minutes>", "with --attach: when a gateway that it starts stops (default: 10)", minutes)
    .action(async (options) =>
      done(
        options.attach
          ? (await import("./attach/command.ts")).attach(options)
          : (await import("./commands/stdio.ts")).stdio(options),
      ),
    );
}

function addOtherCommands(program: Command, done: Done): void {
  program
    .command("check [file]")
    .description("validate a config and locate its problems")
    .option("-c, --config <file>", "config file")
    .option("--json", "print JSON")
    .action((file, options) =>
      done(
        check({
          ...options,
          config: options.config ?? file,
          cwd: process.cwd(),
          env: process.env,
          out: (text) => process.stdout.write(text),
          err: (text) => process.stderr.write(text),
        }),
      ),
    );
  program
    .command("schema")
    .description("print the JSON Schema of the config, for editors")
    .action(() => done(import("./commands/schema.ts").then((it) => it.schema())));
  program
    .command("trust")
    .argument("[file]", "the config (default: the one in this folder)")
    .description("let a config found in a folder run its servers, until it changes")
    .option("-l, --list", "list the trusted configs")
    .option("--json", "print JSON")
    .action(async (file, options) => done((await import("./commands/trust.ts")).trust(file, options)));
  program
    .command("untrust")
    .argument("[file]", "the config (default: the one in this folder)")
    .description("no longer trust a config")
    .action(async (file) => done((await import("./commands/trust.ts")).untrust(file)));
  program
    .command("token")
    .description("make tokens for clients")
    .command("new")
    .argument("<name>", "the client's name, as logs and the audit file show it")
    .description("make a token, print it once, and add its hash to the config")
    .option("-c, --config <file>", "config file")
    .option("--expires <date>", "when the token ends; a date means its beginning, in UTC")
    .option("--admin", "let the token open /api too")
    .option("--replace", "replace the client's token")
    .option("--json", "print JSON")
    .action(async (name, options) => done((await import("./commands/token.ts")).newToken(name, options)));
  addLoginCommands(program, done);
  addPairingCommands(program, done);
  addSecretCommands(program, done);
  addSetupCommands(program, done);
  addRegistryCommands(program, done);
  addServiceCommands(program, done);
  addPolicyCommands(program, done);
  addLockCommands(program, done);
  addApprovalCommands(program, done);
  addRecordingCommands(program, done);
  addClientCommands(program, done);
  addDoctorCommands(program, done);
  addLogCommands(program, done);
}
