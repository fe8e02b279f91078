/**
 * The command line: what there is to type, and how errors look. One file a command; `console` is
 * only used here and below. Exit codes: 0 fine, 1 it failed, 2 it was called wrongly. The gateway
 * is loaded by the commands that run one: a shell that completes a word must not wait for it.
 */
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { ConfigError } from "../config/problems/problem.ts";
import { version } from "../version.ts";
import { addClientCommands } from "./client-commands.ts";
import { check } from "./commands/check.ts";
import { UsageError } from "./usage-error.ts";

export async function run(argv: readonly string[]): Promise<number> {
  let code = 0;
  const done = (action: Promise<number>): Promise<void> =>
    action.then((result) => {
      code = result;
    });
  const program = new Command("goblin")
    .description("One MCP endpoint in front of all your MCP servers.")
    .version(version, "-V, --version")
    .option("-v, --verbose", "show stack traces")
    .showSuggestionAfterError()
    .exitOverride();

  program
    .command("serve")
    .description("run the gateway over HTTP; without a config, on embedded demo servers")
    .option("-c, --config <file>", "config file (default: ./goblin.json, ./.mcp.json, the user's config folder)")
    .option("--host <host>", "interface to listen on")
    .option("-p, --port <port>", "port to listen on; 0 picks a free one", portNumber)
    .option("--tui", "show the dashboard; the log goes there")
    .action(async (options) => done((await import("./commands/serve.ts")).serve(options)));
  program
    .command("stdio")
    .description("run the gateway on stdin and stdout, for clients that start it themselves")
    .option("-c, --config <file>", "config file")
    .action(async (options) => done((await import("./commands/stdio.ts")).stdio(options)));
  program
    .command("check")
    .description("validate a config; says where and what is wrong")
    .option("-c, --config <file>", "config file")
    .action((options) =>
      done(
        check({
          ...options,
          cwd: process.cwd(),
          env: process.env,
          out: (text) => process.stdout.write(text),
          err: (text) => process.stderr.write(text),
        }),
      ),
    );
  program
    .command("tokens")
    .description("what the tools of a config cost a model, and what listing fewer would")
    .option("-c, --config <file>", "config file")
    .option("--json", "as JSON")
    .action(async (options) => done((await import("./commands/tokens.ts")).tokens(options)));

  addClientCommands(program, done);

  try {
    await program.parseAsync(argv, { from: "user" });
    return code;
  } catch (error) {
    return report(error, program.opts()["verbose"] === true);
  }
}

function report(error: unknown, verbose: boolean): number {
  // Commander has printed its own message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (verbose && error instanceof Error) console.error(error.stack);
  else if (error instanceof ConfigError) console.error(error.message);
  else console.error(`goblin: ${describe(error)}`);
  return error instanceof UsageError ? 2 : 1;
}

function describe(error: unknown): string {
  const { code, port } = error as { code?: string; port?: number };
  if (code === "EADDRINUSE") return `port ${port} is in use: choose another with --port, or 0 for a free one`;
  if (code === "EACCES") return `port ${port} may not be used by this user: choose one above 1023`;
  return error instanceof Error ? error.message : String(error);
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError("expected a number from 0 to 65535");
  return port;
}
