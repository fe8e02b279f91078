/**
 * Outlines a config before a person trusts it: the commands it would run and the hosts it would
 * contact.
 *
 * Pure and conservative: it substitutes nothing, reads no other file, and accepts any text, valid
 * or not. It sees the servers where the parser sees them, also in other programs' forms. Likely
 * secrets are hidden. A reference such as `${env:NAME}` is shown, because it tells which variable
 * the file takes.
 */

import { getNodeValue } from "jsonc-parser";
import { isRecord } from "../../lib/structures/record.ts";
import { holdsSecret, isOpaque } from "../../lib/text/secrets/formats.ts";
import { isSecretSetting, secretArguments } from "../../lib/text/secrets/names.ts";
import { translate } from "../dialects/translate.ts";
import { parseSyntax } from "./document.ts";

export interface Outline {
  readonly servers: readonly ServerOutline[];
  /** Set if the gateway would listen beyond loopback. */
  readonly host: string | undefined;
  /** The audit file that the gateway would write. */
  readonly audit: string | undefined;
  /** The folder of recordings that it would write; undefined: it would record nothing. */
  readonly record: string | undefined;
}

export interface ServerOutline {
  readonly id: string;
  readonly disabled: boolean;
  /** The program and its arguments; empty for a server with a URL. */
  readonly command: readonly string[];
  readonly url: string | undefined;
  readonly cwd: string | undefined;
  readonly envFile: string | undefined;
  /** Environment variables as [name, value] pairs. */
  readonly env: readonly (readonly [string, string])[];
  readonly headers: readonly (readonly [string, string])[];
  /** The references to secrets, as written, and the commands among them. */
  readonly secrets: readonly string[];
  readonly runs: readonly string[];
}

const HIDDEN = "[hidden]";

/** `file`: its path, by which other programs' files are recognised. */
export function outlineConfig(text: string, file: string): Outline {
  const root = objectIn(parseLoosely(text, file));
  const gateway = objectIn(root["gateway"]);
  return {
    servers: [root["mcpServers"], root["servers"]].flatMap((section) =>
      Object.entries(objectIn(section)).map(([id, entry]) => outlineServer(id, objectIn(entry))),
    ),
    host: textIn(gateway["host"]),
    audit: textIn(objectIn(root["log"])["audit"]),
    record: root["record"] === undefined ? undefined : (textIn(objectIn(root["record"])["dir"]) ?? "the state folder"),
  };
}

function outlineServer(id: string, entry: Record<string, unknown>): ServerOutline {
  const command = textIn(entry["command"]);
  const args = Array.isArray(entry["args"]) ? entry["args"].map(written) : [];
  const url = textIn(entry["url"] ?? entry["serverUrl"]);
  return {
    id,
    disabled: entry["disabled"] === true || entry["enabled"] === false,
    command: command === undefined ? [] : [command, ...hideArguments(args)],
    url: url === undefined ? undefined : hideInUrl(url),
    cwd: textIn(entry["cwd"]),
    envFile: textIn(entry["envFile"]),
    env: hideByName(entry["env"]),
    headers: hideByName(entry["headers"]),
    ...referencesIn(entry),
  };
}

const REFERENCE = /(?<!\$)\$\{((?:keychain|cmd|input|file):[^}]*|op:\/\/[^}]*)\}/g;

/** Looks everywhere in the entry, also where the parser would not allow a reference. */
function referencesIn(entry: unknown): Pick<ServerOutline, "secrets" | "runs"> {
  const texts: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(visit);
  };
  visit(entry);
  const found = [...new Set(texts.flatMap((text) => [...text.matchAll(REFERENCE)].map(([, inner]) => inner!)))];
  const isCommand = (inner: string): boolean => inner.startsWith("cmd:");
  return {
    secrets: found.filter((inner) => !isCommand(inner)).map((inner) => `\${${inner}}`),
    runs: found.filter(isCommand).map((inner) => inner.slice("cmd:".length)),
  };
}

function hideArguments(args: readonly string[]): string[] {
  const hidden = new Map(secretArguments(args).map(({ index, before, value }) => [index, before + hide(value)]));
  return args.map((argument, index) => hidden.get(index) ?? argument);
}

function hideByName(values: unknown): [string, string][] {
  return Object.entries(objectIn(values)).map(([name, value]) => {
    const text = written(value);
    return [name, isSecretSetting(name) || holdsSecret(text) ? hide(text) : text];
  });
}

/** Hides every query value, because any may be a key, and parts of the path that look so. */
function hideInUrl(url: string): string {
  return url
    .replace(/^([a-z]+:\/\/)[^/?#]*@/i, `$1${HIDDEN}@`)
    .replace(/(?<=\/)[^/?#]+(?=[/?#]|$)/g, (part) => (isOpaque(part) ? hide(part) : part))
    .replace(/([?&][^=&#]*=)([^&#]+)/g, (_, name: string, value: string) => name + hide(value));
}

function hide(value: string): string {
  return value.includes("${") ? value : HIDDEN;
}

function parseLoosely(text: string, file: string): unknown {
  try {
    const { root } = parseSyntax(text.replace(/^\uFEFF/, ""));
    return root?.type === "object" ? getNodeValue(translate(root, file).root) : undefined;
  } catch {
    // Nested too deeply for the parser, so the file is not valid either.
    return undefined;
  }
}

function objectIn(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function textIn(value: unknown): string | undefined {
  return value === undefined || value === "" ? undefined : written(value);
}

function written(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
