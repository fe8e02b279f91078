/**
 * Arguments as people see them who decide about a call: the text that the server will get, with a
 * mark in place of each secret. Pure.
 *
 * Invariant: an approver must see what runs. The text is never written anew, so equal keys, large
 * numbers and the order of members stay. A mark stands for a value that is named like a secret, for
 * a known secret, or for a word that has the form of one; never for other text around it. What
 * nobody could see is written as an escape, and a cut says how much it left out.
 */
import { skipSpace, skipValue } from "../../lib/json/json-text.ts";
import { visibleJson } from "../../lib/text/clean.ts";
import { FORMATS, PREFIXES } from "../../lib/text/secrets/formats.ts";
import { isSecretName } from "../../lib/text/secrets/names.ts";

export interface ShownSecrets {
  /** The values that the gateway keeps secret. */
  readonly known: () => readonly string[];
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly mark: string;
}

/** An object or array that is open. */
interface Container {
  readonly isObject: boolean;
  /** Whether its members declare names, as in a JSON Schema: these are not the names of secrets. */
  readonly declares: boolean;
  readonly isSecret: boolean;
}

const MARK = "***";
const KNOWN = "[hidden]";
/** Shorter values are words like "true". */
const MIN_KNOWN = 6;

const { "private-key": _key, "bearer-token": _bearer, "slack-webhook": _webhook, ...WORDS } = FORMATS;
/** Formats of which a match is one word, so that nothing else hides in it. */
const FORMAT = new RegExp(
  [
    ...Object.values(WORDS).map(({ source }) => source),
    String.raw`\b(?:sk|pk|rk|gh[pos]|github_pat|glpat|xox[abprs]|goblin)[-_](?=[\w-]{0,32}\d)[\w-]{10,255}`,
  ].join("|"),
  "g",
);
const BREAK = String.raw`(?:\s|\\[nr]){0,4}`;
/** The end of a header line. No value has such a character, so there is one way to match a line. */
const LINE_END = String.raw`(?:[\r\n]|\\[nr]){1,4}`;
/** The second group has lines of a key and nothing else, so that nothing hides there. */
const PRIVATE_KEY = new RegExp(
  String.raw`(-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----${BREAK}(?:[A-Za-z-]{2,20}: [\w,./ -]{1,100}${LINE_END}){0,4})` +
    `((?:[A-Za-z0-9+/]{40,100}${BREAK}){1,400}[A-Za-z0-9+/]{0,100}={0,2})`,
  "g",
);
const BEARER = /(\bBearer[ \t]{1,8})([\w.~+/=-]{10,4000})/gi;
/** The host is no secret: an approver must see where data goes. */
const WEBHOOK = /(hooks\.slack\.com\/services\/)T[A-Z0-9]{6,12}\/B[A-Z0-9]{6,12}\/[A-Za-z0-9]{16,32}/g;
/** JSON in a text, however often it is escaped. */
const PAIR = /((\\{0,15})"([\w .-]{1,64})\2"\s{0,8}:\s{0,8}\2")([^"\\]{1,4000})(?=\2")/g;
/** What a shell would act upon must be seen, whatever its name says. */
const ACTS = /\s|\$[({]|[`;|<>]|&&/;

/** What a text has in it if a form of secrets is. */
const SUSPECT = new RegExp(`${PREFIXES.source}|[_kopsrtbn][-_]|bearer|"`, "i");

/** `args`: JSON, as the server will get it. */
export function shownArguments(args: string, secrets: ShownSecrets): string {
  const known = [...new Set(secrets.known())].filter(({ length }) => length >= MIN_KNOWN);
  known.sort((a, b) => b.length - a.length);
  const words = (literal: string): string => withoutSecrets(literal, { ...secrets, values: known });
  const open: Container[] = [];
  let key: string | undefined;
  /** Whether the key is the name of a secret. */
  let isNamed = false;
  let isKey = false;
  let shown = "";
  for (let at = 0; at < args.length; ) {
    const first = args[at]!;
    const around = open.at(-1);
    const isHidden = isNamed || around?.isSecret === true;
    let end = at + 1;
    switch (first) {
      case "{":
      case "[":
        open.push({
          isObject: first === "{",
          declares: key === "properties",
          isSecret: around?.isSecret === true || (isNamed && around?.declares !== true),
        });
        isKey = first === "{";
        key = undefined;
        isNamed = false;
        shown += first;
        break;
      case "}":
      case "]":
        open.pop();
        isKey = false;
        key = undefined;
        isNamed = false;
        shown += first;
        break;
      case ",":
        isKey = around?.isObject === true;
        key = undefined;
        isNamed = false;
        shown += first;
        break;
      case ":":
        isKey = false;
        shown += first;
        break;
      case '"': {
        end = skipValue(args, at);
        const literal = args.slice(at, end);
        if (isKey) {
          key = textOf(literal);
          isNamed = isSecret(key);
        }
        shown += isHidden && !isKey && literal !== '""' ? `"${MARK}"` : words(literal);
        break;
      }
      case " ":
      case "\t":
      case "\n":
      case "\r":
        // Lines without text would push the rest out of sight.
        end = skipSpace(args, at);
        shown += " ";
        break;
      default: {
        end = skipValue(args, at);
        const lexeme = args.slice(at, end);
        shown += isHidden && isSecretNumber(lexeme, key) ? `"${MARK}"` : lexeme;
      }
    }
    at = end;
  }
  return visibleJson(shown);
}

/** The token of a progress notification is not a credential. */
function isSecret(name: string): boolean {
  return name !== "progressToken" && isSecretName(name);
}

/** A number of tokens is a number. */
function isSecretNumber(lexeme: string, key: string | undefined): boolean {
  return /^[-\d]/.test(lexeme) && !/tokens$/i.test(key ?? "");
}

function textOf(literal: string): string {
  return literal.includes("\\") ? (JSON.parse(literal) as string) : literal.slice(1, -1);
}

function withoutSecrets(literal: string, secrets: ShownSecrets & { readonly values: readonly string[] }): string {
  const text = textOf(literal);
  if (!SUSPECT.test(text) && !secrets.values.some((value) => text.includes(value))) return literal;
  const spans = [...spansIn(text, secrets)].sort((a, b) => a.start - b.start || b.end - a.end);
  if (spans.length === 0) return literal;
  const written = offsets(literal, text.length);
  let shown = "";
  let from = 0;
  for (const { start, end, mark } of spans) {
    // Another mark has it already, or a part of it.
    if (end <= from) continue;
    if (start >= from) shown += literal.slice(written(from), written(start)) + mark;
    from = end;
  }
  return `"${shown}${literal.slice(written(from))}`;
}

function* spansIn(text: string, secrets: ShownSecrets & { readonly values: readonly string[] }): Generator<Span> {
  for (const value of secrets.values) {
    // JSON in the text may spell it with escapes.
    for (const form of new Set([value, JSON.stringify(value).slice(1, -1)]))
      for (let start = text.indexOf(form); start !== -1; start = text.indexOf(form, start + form.length))
        yield { start, end: start + form.length, mark: KNOWN };
  }
  for (const { index, 0: word } of text.matchAll(FORMAT))
    if (!mayBeHost(word)) yield { start: index, end: index + word.length, mark: MARK };
  for (const found of text.matchAll(PRIVATE_KEY)) yield after(found, 1);
  for (const found of text.matchAll(WEBHOOK)) yield after(found, 1);
  for (const found of text.matchAll(BEARER))
    if (isOpaque(found[2]!) && !NUMERIC_ADDRESS.test(found[2]!)) yield after(found, 1);
  if (!text.includes('"')) return;
  for (const found of text.matchAll(PAIR)) if (isSecret(found[3]!) && isQuiet(found[4]!)) yield after(found, 1);
}

/** The part of a match that comes after a group at its start. */
function after({ index, ...groups }: RegExpExecArray, group: number): Span {
  return { start: index + groups[group]!.length, end: index + groups[0].length, mark: MARK };
}

/** Whether a value in a text is one that nothing would act upon, so that it need not be seen. */
function isQuiet(value: string): boolean {
  return !ACTS.test(value) && !HOST_AND_PORT.test(value) && (!/[./~:@]/.test(value) || isOpaque(value));
}

/** Programs take a number for an address: 2130706433 and 0x7f000001 are 127.0.0.1. */
const NUMERIC_ADDRESS = /^(?:\d+|0x[\da-f]+)$/i;
const HOST_AND_PORT = /^(?:[\w-]+:\d{1,5}|\[?[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}\]?(?::\d{1,5})?)$/i;
/** No top-level domain is longer. */
const MAX_TOP_LEVEL_DOMAIN = 24;

/** Whether a word may be a host's name: that of a token can be registered as a domain. */
function mayBeHost(word: string): boolean {
  const dot = word.lastIndexOf(".");
  return dot !== -1 && word.length - dot - 1 <= MAX_TOP_LEVEL_DOMAIN;
}

/** Whether a word is surely no host and no path, which an approver must see. */
function isOpaque(word: string): boolean {
  if (/[/~]/.test(word) || mayBeHost(word)) return false;
  if (!word.includes(".")) return /\d/.test(word) || word.length >= 24;
  return word.length >= 32 && /\d/.test(word) && /[a-z]/.test(word) && /[A-Z]/.test(word);
}

/** Returns where a character of a string is in its JSON literal. Asked in ascending order. */
function offsets(literal: string, length: number): (at: number) => number {
  if (literal.length === length + 2) return (at) => at + 1;
  let offset = 1;
  let known = 0;
  return (at) => {
    for (; known < at; known++) offset += literal[offset] !== "\\" ? 1 : literal[offset + 1] === "u" ? 6 : 2;
    return offset;
  };
}

/** Cuts shown arguments after `longest` characters, and adds how many characters are left out. */
export function cutArguments(shown: string, longest: number): string {
  if (shown.length <= longest) return shown;
  // A copy: a part of a text keeps the whole text in memory.
  const start = Buffer.from(shown.slice(0, longest)).toString();
  return `${start}… (${shown.length - longest} more characters are not shown)`;
}

/** The longest arguments that are kept of a question that is over. */
const MAX_KEPT = 16_384;

export function keptArguments(shown: string): string {
  return cutArguments(shown, MAX_KEPT);
}
