/**
 * Asks for the inputs of a config that nobody has answered yet, once, and keeps the answers with
 * the user's secrets. Without a terminal nothing is asked: the servers then say what they need.
 */

import { SecretStore } from "../../../auth/secrets/secret-store.ts";
import type { Config } from "../../../config/schema/config.ts";
import type { InputReference } from "../../../config/secret-reference.ts";
import { clean } from "../../../lib/text/clean.ts";
import { askHidden, hasTerminal } from "./hidden-prompt.ts";

/** `config`: trusted; anybody else's must not ask for passwords. */
export async function askInputs({ servers }: Pick<Config, "servers">): Promise<void> {
  const inputs = new Map<string, { readonly input: InputReference; readonly server: string }>();
  for (const { id, enabled, problems, secretTexts = [] } of servers) {
    if (!enabled || problems) continue;
    for (const part of secretTexts.flatMap(({ parts }) => parts)) {
      if (typeof part === "object" && part.source === "input" && !inputs.has(part.name)) {
        inputs.set(part.name, { input: part, server: id });
      }
    }
  }
  if (inputs.size === 0 || !hasTerminal()) return;
  const store = await SecretStore.open(process.env);
  for (const { input, server } of inputs.values()) {
    if ((await store.get(input.name)) !== undefined) continue;
    const answer = await askInput(input, server);
    if (answer === undefined) console.error(clean(`Without it, server "${server}" does not start.`));
    else await store.set(input.name, answer);
  }
}

/** What is asked for, and for which server. */
export interface PromptedInput {
  readonly id: string;
  readonly description?: string | undefined;
  readonly isHidden: boolean;
  readonly default?: string | undefined;
  readonly options?: readonly string[] | undefined;
}

/** Returns undefined if there was no answer. */
export async function askInput(input: PromptedInput, server: string): Promise<string | undefined> {
  const { id, description = id, options } = input;
  const question = `Server "${server}" asks for: ${description}`;
  if (options && options.length > 0) return choose(question, options, input.default);
  if (input.isHidden) return askHidden(clean(`${question} (not shown): `));
  const usual = input.default === undefined ? "" : ` [${input.default}]`;
  return (await readLine(clean(`${question}${usual}: `))) || input.default;
}

/** Takes the number of an option or its text. */
async function choose(question: string, options: readonly string[], usual?: string): Promise<string | undefined> {
  console.error(clean(question));
  for (const [i, option] of options.entries()) console.error(clean(`  ${i + 1}  ${option}`));
  for (;;) {
    const answer = await readLine(clean(`1–${options.length}${usual === undefined ? "" : ` [${usual}]`}: `));
    if (answer === undefined) return undefined;
    const chosen = answer === "" ? usual : (options.find((option) => option === answer) ?? options[Number(answer) - 1]);
    if (chosen !== undefined) return chosen;
  }
}

/** Returns undefined at the end of the input. */
async function readLine(question: string): Promise<string | undefined> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // The terminal is in raw mode while a line is read, so ctrl-c must be forwarded.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const ended = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  try {
    return (await Promise.race([lines.question(question), ended]))?.trim();
  } finally {
    lines.close();
  }
}
