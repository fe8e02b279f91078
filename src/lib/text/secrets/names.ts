/**
 * The names of secrets: of variables, headers, flags and members. Whatever hides or reports secrets
 * by their names takes them from here.
 */
import { holdsSecret } from "./formats.ts";

const NAME =
  /pass(?:word|wd|phrase)?$|passw|passphrase|^pwd$|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|authorization|(?:^|[-_])auth(?:$|[-_])|credential|cookie|bearer/i;
/** Also names that are ordinary words elsewhere: `key` is the name of many arguments. */
const SETTING = /key|auth|session|pwd|pass$/i;

/** What a text has in it if it names a secret. */
export const NAME_PARTS =
  /pass|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|auth|credential|cookie|bearer/i;

/** Whether a member of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return NAME.test(name);
}

/** Whether a variable, header or flag in a config is named like a secret. */
export function isSecretSetting(name: string): boolean {
  return NAME.test(name) || SETTING.test(name);
}

/** The place of a key is not a key: `--key-file /run/key.pem`. */
const PLACE = /^(?:[./~\\]|[A-Za-z]:[\\/]|\w+:\/\/)/;

function isSecretOf(name: string, value: string): boolean {
  return isSecretName(name) || (isSecretSetting(name) && !PLACE.test(value));
}

/** A part of an argument that is a secret. */
export interface SecretArgument {
  readonly index: number;
  /** What comes before it, as in `--token=`. */
  readonly before: string;
  readonly value: string;
}

/** Finds the secrets in `--token abc`, `--token=abc` and `Authorization: abc`, and bare keys. */
export function secretArguments(args: readonly string[]): SecretArgument[] {
  return args.flatMap((argument, index): SecretArgument[] => {
    const flag = args[index - 1] ?? "";
    if (/^-[^=:\s]*$/.test(flag) && !argument.startsWith("-") && isSecretOf(flag, argument)) {
      return [{ index, before: "", value: argument }];
    }
    const [, before = "", value = ""] = /^(-{0,2}[A-Za-z][\w.-]*\s*[=:]\s*)(.+)$/s.exec(argument) ?? [];
    if (value !== "" && isSecretOf(before.replace(/\s*[=:]\s*$/, ""), value)) return [{ index, before, value }];
    return holdsSecret(argument) ? [{ index, before: "", value: argument }] : [];
  });
}
