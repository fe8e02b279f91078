/** The command about a gateway's log. It loads when it is used. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { ownLogLevels } from "../../../mcp/protocol/log-levels.ts";
import { momentOf } from "./moment.ts";

const MAX_LINES = 10_000;

/** `done` takes a command's exit code. */
export function addLogCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  program
    .command("logs")
    .argument("[server]", "only its lines, with what it writes to stderr")
    .description("print the log of a running gateway, newest last")
    .option("-f, --follow", "go on with new lines")
    .addOption(new Option("-l, --level <level>", "this level and above").choices(ownLogLevels))
    .option("--since <when>", "a time, or a duration such as 10m, 2h or 1d", since)
    .option("-n, --lines <count>", "at most this many lines (default: 100; with --since: all)", lines)
    .option("-u, --url <url>", "the gateway (default: the one that this folder's config would start)")
    .option("-t, --token <token>", "its admin token (default: $GOBLIN_TOKEN)")
    .option("--json", "print one JSON object per line")
    .action((server, options) => done(import("./logs.ts").then((it) => it.logs(server, options))));
}

function since(text: string): number {
  const moment = momentOf(text, Date.now());
  if (moment === undefined) throw new InvalidArgumentError("expected a time such as 2026-11-16T08:00, or 10m, 2h, 1d");
  return moment;
}

function lines(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > MAX_LINES) {
    throw new InvalidArgumentError(`expected a number from 1 to ${MAX_LINES}`);
  }
  return count;
}
