/** The commands about what was called: the newest calls, recordings, and replays of them. */
import { type Command, InvalidArgumentError } from "commander";

/** `done` takes a command's exit code. */
export function addRecordingCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  const running = (command: Command): Command =>
    command
      .option("-u, --url <url>", "a running gateway (default: the one that this folder's config would start)")
      .option("-t, --token <token>", "its admin token (default: $GOBLIN_TOKEN)");
  const source = (command: Command): Command =>
    running(command)
      .option("--from <recording>", "take them from a recording; needs no running gateway")
      .option("-s, --server <id>", "only calls of this server")
      .option("--failed", "only calls that failed")
      .option("--curl", "print each as a curl command")
      .option("--har", "print an HTTP archive, for a browser's developer tools")
      .option("--json", "print JSON");

  const calls = source(program.command("calls").description("list the newest calls, or those of a recording"))
    .option("-n, --last <count>", "at most this many", count, 50)
    .option("-f, --follow", "go on with each call as it ends")
    .action((options) => done(import("./calls.ts").then((it) => it.calls(options))));
  calls
    .command("show")
    .argument("<id>", "as the list and the log name it")
    .description("show one call in full: what was asked and answered, and how long it took")
    .addHelpText("after", "\nThe options --curl, --har, --json, --from, --url and --token work here, too.")
    .action((id, _, command: Command) =>
      done(import("./calls.ts").then((it) => it.showCall(id, command.optsWithGlobals()))),
    );
  running(program.command("record").description("record the messages of clients and servers, or say what is recorded"))
    .option("--for <time>", "record for this long, such as 30s, 10m or 2h", duration)
    .option("-s, --server <pattern...>", "only these servers; * stands for any characters")
    .option("--no-bodies", "record sizes and times, not the messages")
    .option("--stop", "end the recording now")
    .option("--json", "print JSON")
    .action((options) => done(import("./record.ts").then((it) => it.record(options))));
  running(program.command("replay").argument("<recording>", "a folder of recordings, or one of its files"))
    .description("serve a recording as an MCP server, on stdin and stdout")
    .option("-s, --server <id>", "answer as this server did, instead of as the gateway did")
    .option("--http <port>", "serve on this port of 127.0.0.1 instead; 0 picks a free one", port)
    .option("--against <server>", "repeat the recorded calls at this server, and show what changed")
    .option("--all", "with --against: also tools that are not marked as read-only")
    .option("-c, --config <file>", "with --against: start the server from this config")
    .option("--json", "with --against: print JSON")
    .action((path, options) => done(import("./replay.ts").then((it) => it.replay(path, options))));
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

function duration(text: string): number {
  const [, number, unit] = /^(\d+)([smh])$/.exec(text) ?? [];
  const ms = Number(number) * (UNITS[unit ?? ""] ?? Number.NaN);
  if (ms >= 1000 && ms <= 24 * 3_600_000) return ms;
  throw new InvalidArgumentError("Expected a time such as 30s, 10m or 2h, at most a day.");
}

function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("Expected a whole number from 1.");
}

function port(text: string): number {
  const value = Number(text);
  if (text !== "" && Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new InvalidArgumentError("Expected a port from 0 to 65535.");
}
