/** The commands about calls that wait for a person. Each loads when it is used. */
import { type Command, Option } from "commander";
import { spans } from "../../../auth/approvals/record.ts";

/** `done` takes a command's exit code. */
export function addApprovalCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  const load = () => import("./approvals.ts");
  const approvals = program
    .command("approvals")
    .description("list the calls that wait for a person's approval")
    .option("-a, --all", "also those that were answered, or have ended")
    .option("-u, --url <url>", "a running gateway (default: the one that this folder's config would start)")
    .option("-t, --token <token>", "its admin token (default: $GOBLIN_TOKEN)")
    .option("--json", "print JSON")
    .action((options) => done(load().then((it) => it.listApprovals(options))));
  approvals
    .command("show")
    .argument("<id>", "as listed")
    .description("one of them, with all its arguments")
    .action((id, _, command: Command) => done(load().then((it) => it.showApproval(id, command.optsWithGlobals()))));
  approvals
    .command("allow")
    .argument("<id>", "as listed")
    .description("let the call run, and the same call again for as long as you say")
    .addOption(
      new Option("--for <span>", "always: this call, and the rule to add to the config is printed")
        .choices(spans)
        .default("once"),
    )
    .option("--expect <digest>", "refuse if the call has other arguments than those with this digest")
    .action((id, _, command: Command) => done(load().then((it) => it.allow(id, command.optsWithGlobals()))));
  approvals
    .command("deny")
    .argument("<id>", "as listed")
    .description("refuse the call")
    .option("--reason <text>", "told to the client")
    .action((id, _, command: Command) => done(load().then((it) => it.deny(id, command.optsWithGlobals()))));
  approvals
    .command("grants")
    .description("what answers still allow")
    .action((_, command: Command) => done(load().then((it) => it.listGrants(command.optsWithGlobals()))));
  approvals
    .command("revoke")
    .argument("<grant>", "as goblin approvals grants lists it")
    .description("allow it no longer")
    .action((id, _, command: Command) => done(load().then((it) => it.revoke(id, command.optsWithGlobals()))));
  approvals
    .command("verify")
    .argument("[file...]", "audit files, or files of approvals (default: those in the state folder)")
    .description("check that no line about an approval was changed, removed or added; exit code 1 if one was")
    .action((files, _, command: Command) =>
      done(import("./verify.ts").then((it) => it.verify(files, command.optsWithGlobals()))),
    );
}
