/** The commands about who may use what. Each loads when it is used. */
import type { Command } from "commander";

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** `done` takes a command's exit code. */
export function addPolicyCommands(program: Command, done: (action: Promise<number>) => Promise<void>): void {
  program
    .command("explain")
    .argument("<tool>", "its name, as listed, or server/name; of a running gateway, also a prompt or a URI")
    .description("say whether a principal may use a tool, and by which rules; exit code 1 if not")
    .option("--as <principal>", "a name of gateway.auth.clients, or an issuer and a subject with a space between")
    .option("--group <group>", "a group of the principal; may be repeated", collect)
    .option("--scope <scope>", "a scope of its token; may be repeated", collect)
    .option("--client <id>", "its OAuth client")
    .option("--profile <name>", "at the endpoint of this profile")
    .option("-a, --args <json>", "the arguments of the call, as a JSON object")
    .option("-c, --config <file>", "ask this config, not the running gateway; with --url, that one's catalog too")
    .option("-u, --url <url>", "a running gateway (default: the one that this folder's config would start)")
    .option("-t, --token <token>", "its admin token (default: $GOBLIN_TOKEN)")
    .option("--json", "print JSON")
    .action((tool, options) => done(import("./explain.ts").then((it) => it.explain(tool, options))));
  program
    .command("policy")
    .description("check the rules of a config")
    .command("test")
    .argument("<file>", "cases: who, which tool, which arguments, and the expected effect")
    .description("run cases against the rules; exit code 1 if one does not hold")
    .option("-c, --config <file>", "config file")
    .option("--json", "print JSON")
    .action((file, options) => done(import("./policy-test.ts").then((it) => it.policyTest(file, options))));
}
