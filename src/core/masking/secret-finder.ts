/**
 * Finds secrets in text: known formats, and the values that the gateway itself keeps secret. One
 * expression searches for all of them.
 */
import { layersOf } from "../../lib/text/layers.ts";
import { FORMATS, MAX_SECRET_LENGTH, PREFIXES, type SecretFormat } from "../../lib/text/secrets/formats.ts";

/** What a secret is of; `known`: one of the gateway's own. */
export type SecretKind = SecretFormat | "known";
export type MaskCounts = Map<SecretKind, number>;

/** Shorter values are words like "true". */
const MIN_SECRET_LENGTH = 6;
/** The characters that are searched at once. */
export const WINDOW = 64 * 1024;

export class SecretFinder {
  readonly #names: readonly SecretKind[];
  readonly #all: RegExp;
  readonly #byForm: RegExp;
  readonly #suspect: RegExp;

  constructor(known: readonly string[], except: readonly SecretFormat[] = []) {
    const formats = (Object.keys(FORMATS) as SecretFormat[]).filter((name) => !except.includes(name));
    const values = [...new Set(known)].filter(({ length }) => length >= MIN_SECRET_LENGTH);
    // A longer one first, so that no part of it remains.
    values.sort((a, b) => b.length - a.length);
    const forms = formats.map((name) => `(${FORMATS[name].source})`);
    const own = values.length > 0 ? [`(${values.map(quoted).join("|")})`] : [];
    this.#names = [...formats, "known"];
    this.#byForm = new RegExp(forms.join("|") || NEVER, "g");
    this.#all = new RegExp([...forms, ...own].join("|") || NEVER, "g");
    const written = values.map((value) => quoted(JSON.stringify(value).slice(1, -1)));
    // Escapes may spell anything. JSON in a string escapes the escapes of a value.
    const isEscaped = values.some((value) => JSON.stringify(value) !== `"${value}"`);
    const escapes = isEscaped ? "\\\\[u/\\\\]" : "\\\\[u/]";
    this.#suspect = new RegExp([PREFIXES.source, escapes, ...written].join("|"));
  }

  /** Whether JSON may have a secret in it. Never wrong about a no. */
  suspects(json: string): boolean {
    return this.#suspect.test(json);
  }

  /**
   * Masks the secrets that begin in the first `most` characters, and counts them. `before`: how
   * many characters were searched already, and are only looked back at.
   */
  mask(text: string, { before, most, isKey, counts }: MaskOptions): Masked {
    let out = "";
    let from = before;
    for (const { start, end, kind } of this.#find(text, { before, most, isKey })) {
      // Part of one that was found before.
      if (start < from) {
        from = Math.max(from, end);
        continue;
      }
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      out += `${text.slice(from, start)}${maskOf(kind)}`;
      from = end;
    }
    const end = Math.max(from, Math.min(text.length, before + most));
    return { text: out + text.slice(from, end), end };
  }

  /** The secrets of all layers of the text, by their places. */
  #find(text: string, { before, most, isKey }: Omit<MaskOptions, "counts">): Found[] {
    const search = isKey ? this.#byForm : this.#all;
    const all: Found[] = [];
    for (const { text: layer, placeOf } of layersOf(text)) {
      search.lastIndex = layer === text ? before : 0;
      for (let found = search.exec(layer); found; found = search.exec(layer)) {
        const start = placeOf(found.index);
        if (start >= before + most) break;
        const end = placeOf(found.index + found[0].length);
        const kind = this.#names[found.findIndex((group, i) => i > 0 && group !== undefined) - 1] ?? "known";
        if (start >= before) all.push({ start, end, kind });
      }
    }
    // A longer one first, so that no part of it remains.
    return all.sort((a, b) => a.start - b.start || b.end - a.end);
  }
}

interface Found {
  readonly start: number;
  readonly end: number;
  readonly kind: SecretKind;
}

export interface MaskOptions {
  readonly before: number;
  readonly most: number;
  /** Only the formats count in keys: one of the gateway's own values may be a word there. */
  readonly isKey: boolean;
  readonly counts: MaskCounts;
}

export interface Masked {
  readonly text: string;
  /** Where the rest begins. */
  readonly end: number;
}

/** More text is needed to see the end of a secret that begins in the window. */
export const LOOKAHEAD = MAX_SECRET_LENGTH;

const NEVER = "(?!)";

function maskOf(kind: SecretKind): string {
  return kind === "known" ? "[masked secret]" : `[masked ${kind}]`;
}

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
