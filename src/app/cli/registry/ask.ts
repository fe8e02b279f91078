/**
 * Gets answers to what a server asks for: from `--set`, from the terminal, or from the environment.
 *
 * Invariant: a secret is never taken from the command line, and its value stands in no config: the
 * answer is a reference to the store, or to a variable.
 */

import { SecretStore } from "../../../auth/secrets/secret-store.ts";
import { clean } from "../../../lib/text/clean.ts";
import type { Answers, LaunchInput } from "../../../upstream/registry/launch.ts";
import { askInput } from "../secrets/ask-inputs.ts";
import { hasTerminal } from "../secrets/hidden-prompt.ts";
import { UsageError } from "../usage-error.ts";

export interface Answered {
  readonly answers: Answers;
  /** What goes into the store, by name. */
  readonly secrets: ReadonlyMap<string, string>;
}

export interface AskOptions {
  /** The server's name in the config. */
  readonly id: string;
  /** `key=value` */
  readonly set: readonly string[];
}

/** @throws UsageError if an answer is missing */
export async function askAll(questions: readonly LaunchInput[], { id, set }: AskOptions): Promise<Answered> {
  const answers = new Map<string, string>();
  const secrets = new Map<string, string>();
  const given = givenAnswers(questions, set);
  const optional: string[] = [];
  for (const question of questions) {
    const { key, isRequired, isSecret } = question;
    const ready = given.get(key);
    if (ready !== undefined) answers.set(key, ready);
    else if (!isRequired) optional.push(key);
    else if (hasTerminal()) {
      const typed = await askInput({ ...question, id: key, isHidden: isSecret, options: question.choices }, id);
      if (typed === undefined) throw new UsageError(`${key} is required, so nothing was changed`);
      answers.set(key, isSecret ? keep(`${id}/${key}`, typed, secrets) : typed);
    } else if (process.env[key] !== undefined) answers.set(key, `\${${key}}`);
    else if (question.default !== undefined) answers.set(key, question.default);
    else throw new UsageError(missing(question));
  }
  if (optional.length > 0) console.error(clean(`It can also take: ${optional.join(", ")}`));
  return { answers, secrets };
}

function keep(name: string, value: string, secrets: Map<string, string>): string {
  const safe = name.replace(/[{}\p{Cc}]/gu, "_");
  secrets.set(safe, value);
  return `\${keychain:${safe}}`;
}

function givenAnswers(questions: readonly LaunchInput[], set: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const word of set) {
    const at = word.indexOf("=");
    const key = word.slice(0, at);
    const question = questions.find((one) => one.key === key);
    if (at < 1) throw new UsageError(`--set ${word} is not key=value`);
    if (!question) {
      const known = questions.map((one) => one.key).join(", ") || "nothing";
      throw new UsageError(`--set ${key}: the server does not ask for it (it asks for ${known})`);
    }
    if (question.isSecret)
      throw new UsageError(`--set ${key}: others can see a command line; set it in the environment, or on a terminal`);
    given.set(key, word.slice(at + 1));
  }
  return given;
}

function missing({ key, description, isSecret }: LaunchInput): string {
  const about = description === undefined ? "" : ` (${description})`;
  const how = isSecret ? "set it in the environment" : `use --set ${key}=…`;
  return `the server needs ${key}${about}: ${how}, or run this on a terminal`;
}

/** Stores the secrets. Returns the names that were not there before. */
export async function newNames(secrets: ReadonlyMap<string, string>): Promise<string[]> {
  if (secrets.size === 0) return [];
  const store = await SecretStore.open(process.env);
  const known = new Set((await store.list()).map(({ name }) => name));
  return [...secrets.keys()].filter((name) => !known.has(name));
}

export async function storeSecrets(secrets: ReadonlyMap<string, string>): Promise<void> {
  if (secrets.size === 0) return;
  const store = await SecretStore.open(process.env);
  for (const [name, value] of secrets) await store.set(name, value);
}
