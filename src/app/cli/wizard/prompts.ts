/**
 * The wizard's questions on the terminal.
 *
 * Invariant: ctrl-c at any question is a `Cancelled`, so the wizard decides what that means. Text
 * from files and servers is cleaned before it is shown.
 */
import { clean } from "../../../lib/text/clean.ts";
import { wrap } from "../../../lib/text/width.ts";

/** The user wants no more of it. */
export class Cancelled extends Error {}

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint?: string | undefined;
}

export interface Prompts {
  begin(title: string): void;
  say(text: string): void;
  warn(text: string): void;
  end(text: string): void;
  /** Asks for any number of the choices; `chosen` are marked at first. */
  many(message: string, choices: readonly Choice[], chosen: readonly string[]): Promise<readonly string[]>;
  one(message: string, choices: readonly Choice[]): Promise<string>;
  confirm(message: string): Promise<boolean>;
}

const MAX_SHOWN = 12;
const MIN_LINE_WIDTH = 20;

/** Loads the prompts on demand. */
export async function openPrompts(): Promise<Prompts> {
  const clack = await import("@clack/prompts");
  const answered = <T>(answer: T): Exclude<T, symbol> => {
    if (clack.isCancel(answer)) throw new Cancelled();
    return answer as Exclude<T, symbol>;
  };
  const lines = (text: string): string[] =>
    wrap(clean(text), Math.max(MIN_LINE_WIDTH, (process.stdout.columns || 80) - 4));
  const options = (choices: readonly Choice[]): { value: string; label: string; hint?: string }[] =>
    choices.map(({ value, label, hint }) => ({ value, label: clean(label), ...(hint && { hint: clean(hint) }) }));
  return {
    begin: (title) => clack.intro(title),
    say: (text) => clack.log.message(text.split("\n").flatMap(lines)),
    warn: (text) => clack.log.warn(lines(text).join("\n")),
    end: (text) => clack.outro(clean(text)),
    many: async (message, choices, chosen) =>
      answered(
        await clack.multiselect<string>({
          message: clean(message),
          options: options(choices),
          initialValues: [...chosen],
          required: false,
          maxItems: MAX_SHOWN,
        }),
      ),
    one: async (message, choices) =>
      answered(await clack.select<string>({ message: clean(message), options: options(choices) })),
    confirm: async (message) => answered(await clack.confirm({ message: clean(message) })),
  };
}
