/** `goblin prompt <name> [key=value…]`: prints the messages of a prompt. */
import { promptArguments } from "../arguments.ts";
import { blocksOf, printBlock } from "../content.ts";
import { printJson } from "../table.ts";
import { type TargetOptions, withClient } from "../target.ts";

export interface PromptOptions extends TargetOptions {
  readonly out: string;
  readonly json?: boolean | undefined;
}

export function prompt(name: string, pairs: readonly string[], options: PromptOptions): Promise<number> {
  const values = promptArguments(pairs);
  return withClient(options, async (client) => {
    const result = await client.request("prompts/get", { name, arguments: values });
    if (options.json) printJson(result);
    else {
      for (const message of blocksOf(result["messages"])) {
        console.log(`${String(message["role"])}:`);
        for (const block of blocksOf(message["content"])) printBlock(block, { out: options.out, name });
      }
    }
    return 0;
  });
}
