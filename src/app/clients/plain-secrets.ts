/**
 * Finds secrets that stand in an entry in plain text: variables and headers that are named like
 * one. Arguments and URLs are left as they are.
 */
import { isSecretName } from "../../config/reading/outline.ts";
import { isRecord } from "../../lib/structures/record.ts";
import type { SettingsEntry } from "./client.ts";

export interface PlainSecret {
  /** Under which it may be kept. */
  readonly name: string;
  readonly value: string;
}

/** Shorter values are words such as "true". */
const SHORTEST = 6;
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

function secretIn(server: string, key: string, text: string): PlainSecret | undefined {
  const value = text.replace(SCHEME, "");
  const isPlain = isSecretName(key) && value.length >= SHORTEST && !/[${]/.test(value);
  return isPlain ? { name: `${server}/${key}`.replace(/[{}\p{Cc}]/gu, "_"), value } : undefined;
}

function textsOf({ env, headers }: SettingsEntry): { readonly key: string; readonly text: string }[] {
  return [env, headers]
    .filter(isRecord)
    .flatMap((fields) =>
      Object.entries(fields).flatMap(([key, text]) => (typeof text === "string" ? { key, text } : [])),
    );
}
