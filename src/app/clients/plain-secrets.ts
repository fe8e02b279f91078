/**
 * Finds secrets that stand in plain text: in entries, the variables and headers that are named like
 * one; in texts for people, also arguments, parts of URLs and everything with the form of a key.
 */

import { isRecord } from "../../lib/structures/record.ts";
import { FORMATS } from "../../lib/text/secrets/formats.ts";
import { isSecretSetting } from "../../lib/text/secrets/names.ts";
import type { SettingsEntry } from "./client.ts";

export interface PlainSecret {
  /** Under which it may be kept. */
  readonly name: string;
  readonly value: string;
}

/** Shorter values are words such as "true". */
const MIN_SECRET_LENGTH = 6;
const SCHEME = /^(?:Bearer|Basic|Token) /i;

/** Returns the secrets of a server's entry. */
export function plainSecrets(server: string, entry: SettingsEntry): PlainSecret[] {
  return textsOf(entry).flatMap(({ key, text }) => secretIn(server, key, text) ?? []);
}

/** Returns the entry with references in place of the secrets; `nameOf` says under which names. */
export function withReferences(
  server: string,
  entry: SettingsEntry,
  nameOf: (secret: PlainSecret) => string,
): SettingsEntry {
  const replaced = Object.entries(entry).map(([section, fields]) => {
    if ((section !== "env" && section !== "headers") || !isRecord(fields)) return [section, fields];
    const own = Object.entries(fields).map(([key, text]) => {
      const secret = typeof text === "string" ? secretIn(server, key, text) : undefined;
      const scheme = SCHEME.exec(String(text))?.[0] ?? "";
      return [key, secret ? `${scheme}\${keychain:${nameOf(secret)}}` : text];
    });
    return [section, Object.fromEntries(own)];
  });
  return Object.fromEntries(replaced) as SettingsEntry;
}

const HIDDEN = "[hidden]";
const KEY_FORMATS = Object.values(FORMATS).map((format) => new RegExp(format.source, "g"));
/** A name, its separator and its value, in JSON, TOML, YAML and lists of arguments. */
const NAMED =
  /(["']?)(-{0,2}[A-Za-z_][\w.-]*)\1(\s*[:=]\s*|,\s*)(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([^\s"'{}[\],#][^\n,}\]#]*))/g;
const IN_URL = /([?&]([\w.-]+)=)([^&\s"'#]+)/g;
const WITH_SCHEME = /\b((?:Bearer|Basic|Token) +)([^\s"'$,}]{6,})/gi;
const FLAG = /(--?([\w-]+)=)([^\s"']+)/g;

/** Returns the text of a settings file with its secrets hidden. Its lines stay lines. */
export function hideSecrets(text: string): string {
  const hiddenIn = (name: string, value: string): boolean =>
    isSecretSetting(name) && value.length >= MIN_SECRET_LENGTH && !/[${]/.test(value);
  const named = text.replace(
    NAMED,
    (whole, _quote, name: string, between: string, ...values: (string | undefined)[]) => {
      const value = values.slice(0, 3).find((one) => one !== undefined) ?? "";
      // After a comma, only a flag names the next value.
      const isName = !between.startsWith(",") || name.startsWith("-");
      if (!isName || !hiddenIn(name, value.replace(SCHEME, ""))) return whole;
      return (
        whole.slice(0, whole.length - value.length - (/["']$/.test(whole) ? 1 : 0)) +
        HIDDEN +
        (/["']$/.exec(whole)?.[0] ?? "")
      );
    },
  );
  const rest = named
    .replace(IN_URL, (whole, lead: string, name: string, value: string) =>
      hiddenIn(name, value) ? lead + HIDDEN : whole,
    )
    .replace(FLAG, (whole, lead: string, name: string, value: string) =>
      hiddenIn(name, value) ? lead + HIDDEN : whole,
    )
    .replace(WITH_SCHEME, (_whole, scheme: string) => scheme + HIDDEN);
  return KEY_FORMATS.reduce((shown, format) => shown.replace(format, HIDDEN), rest);
}

function secretIn(server: string, key: string, text: string): PlainSecret | undefined {
  const value = text.replace(SCHEME, "");
  const isPlain = isSecretSetting(key) && value.length >= MIN_SECRET_LENGTH && !/[${]/.test(value);
  return isPlain ? { name: `${server}/${key}`.replace(/[{}\p{Cc}]/gu, "_"), value } : undefined;
}

function textsOf({ env, headers }: SettingsEntry): { readonly key: string; readonly text: string }[] {
  return [env, headers]
    .filter(isRecord)
    .flatMap((fields) =>
      Object.entries(fields).flatMap(([key, text]) => (typeof text === "string" ? { key, text } : [])),
    );
}
