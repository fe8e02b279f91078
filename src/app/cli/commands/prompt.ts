/** `goblin prompt <name> [key=value…]`: prints the messages of a prompt. */
import { clean } from "../../../lib/text/clean.ts";
import { type PromptArgument, promptArguments } from "../arguments.ts";
import type { McpClient } from "../gateway/mcp-client.ts";
import { type TargetOptions, withClient } from "../gateway/target.ts";
import { noSuch } from "../suggest.ts";
import { blocksOf, printBlock } from "../terminal/content.ts";
import { whileWaiting } from "../terminal/status-line.ts";
import { printJson } from "../terminal/table.ts";

export interface PromptOptions extends TargetOptions {
  readonly out?: string | undefined;
  readonly json?: boolean | undefined;
}

export function prompt(name: string, pairs: readonly string[], options: PromptOptions): Promise<number> {
  return withClient(options, async (client) => {
    const result = await whileWaiting(`waiting for ${name}`, async () => {
      const values = promptArguments(pairs, await argumentsOf(name, client));
      return client.request("prompts/get", { name, arguments: values });
    });
    if (options.json) printJson(result);
    else {
      for (const message of blocksOf(result["messages"])) {
        console.log(clean(`${String(message["role"])}:`));
        for (const block of blocksOf(message["content"])) printBlock(block, { out: options.out, name });
      }
    }
    return 0;
  });
}

/** Returns the prompt's arguments. @throws UsageError if it does not exist */
async function argumentsOf(name: string, client: McpClient): Promise<PromptArgument[]> {
  const prompts = await client.list("prompts/list", "prompts");
  const found = prompts.find((one) => one["name"] === name);
  if (found === undefined) {
    const known = prompts.map((one) => String(one["name"]));
    throw noSuch({ kind: "prompt", name, known, otherwise: 'see "goblin list prompts"' });
  }
  return blocksOf(found["arguments"]).map((one) => ({
    name: String(one["name"]),
    required: one["required"] === true,
  }));
}
