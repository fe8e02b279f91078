/**
 * Splits any text (names, URIs, prose) into the words that the search compares.
 *
 * A run of letters and digits is split at case changes and between letters and digits. The whole
 * run is kept as well: `github` finds `GitHub`, and `issue` finds `createIssue`. Every word is
 * folded: lower case, no accents. Scripts without spaces become pairs of characters.
 *
 * Invariants: the same text gives the same words, in linear time. Each word is a substring of
 * `fold(text)`. A stem is a prefix of its word, except that -ies and -ied become y. The scan of
 * entries that are not indexed yet relies on this.
 */

const ASCII_RUN = /[A-Za-z0-9]+/g;
const ANY_RUN = /[\p{L}\p{N}]+/gu;
/** `S3Upload` is S3 and Upload, `HTTPServer` is HTTP and Server, `utf8` is utf and 8. */
const PARTS = /[A-Za-z][0-9]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;
const NOT_ASCII = /[^\0-\x7f]/;
const ACCENTS = /\p{M}+/gu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const VOWEL = /[aeiouy]/;
const MAX_WORD = 40;

/** One run of letters and digits: the whole, and its parts if there are several. */
export interface WordRun {
  readonly whole: string;
  readonly parts: readonly string[];
}

/** Folds a text for comparison: lower case, without accents. */
export function fold(text: string): string {
  return stripAccents(text).toLowerCase();
}

/** Returns the runs of letters and digits in a text, in order. */
export function splitRuns(text: string): WordRun[] {
  const plain = stripAccents(text);
  const ascii = !NOT_ASCII.test(plain);
  return (plain.match(ascii ? ASCII_RUN : ANY_RUN) ?? []).map(splitRun);
}

/** Returns the words of a text, compounds before their parts. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  const plain = stripAccents(text);
  for (const run of plain.match(NOT_ASCII.test(plain) ? ANY_RUN : ASCII_RUN) ?? []) {
    const { whole, parts } = rememberedRun(run);
    words.push(whole);
    for (const part of parts) words.push(part);
  }
  return words;
}

/** Tools repeat the same few thousand words, so their parts are cached. */
const remembered = new Map<string, WordRun>();
const MAX_REMEMBERED = 20_000;

function rememberedRun(run: string): WordRun {
  let split = remembered.get(run);
  if (split === undefined) {
    split = splitRun(run);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    if (run.length <= MAX_WORD) remembered.set(run, split);
  }
  return split;
}

/** Leaves out parts of one character, which carry no meaning. */
function splitRun(run: string): WordRun {
  const parts = NOT_ASCII.test(run) ? foreignParts(run) : run.match(PARTS);
  const whole = run.toLowerCase().slice(0, MAX_WORD);
  if (parts === null || parts.length < 2) return { whole, parts: [] };
  return { whole, parts: parts.filter((part) => part.length > 1).map((part) => part.toLowerCase()) };
}

/**
 * A light English stemmer: plural, -ing, -ed, -tion and a final e. A stem need not be a word; it
 * must only be the same for all forms of one word: create, creates, creating, created, creation →
 * creat. The index holds whole words; the stem finds the other forms of a query's word.
 */
export function stem(word: string): string {
  if (word.length < 4 || NOT_ASCII.test(word)) return word;
  return strip(singular(word));
}

function singular(word: string): string {
  if (!word.endsWith("s") || word.endsWith("ss") || word.endsWith("us") || word.endsWith("is")) return word;
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:[sxz]|[cs]h)es$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

function strip(word: string): string {
  for (const suffix of ["ing", "ed"]) {
    if (!word.endsWith(suffix)) continue;
    const rest = word.slice(0, -suffix.length);
    if (rest.length < 3 || !VOWEL.test(rest)) return word;
    return rest.endsWith("i") ? `${rest.slice(0, -1)}y` : undouble(rest);
  }
  if (word.endsWith("tion") && word.length > 6) return word.slice(0, -3);
  return word.endsWith("e") && word.length > 3 ? word.slice(0, -1) : word;
}

/** Returns the prefix that all other forms of a word share in the index. */
export function formsPrefix(stemmed: string): string {
  return stemmed.endsWith("y") ? stemmed.slice(0, -1) : stemmed;
}

/** Turns runn into run; call, press and add keep their double letter. */
function undouble(word: string): string {
  const last = word.at(-1);
  return last === word.at(-2) && !"lsdz".includes(last ?? "") ? word.slice(0, -1) : word;
}

function stripAccents(text: string): string {
  return NOT_ASCII.test(text) ? text.normalize("NFKD").replace(ACCENTS, "").normalize("NFC") : text;
}

function foreignParts(run: string): string[] | null {
  if (!UNSPACED.test(run)) return null;
  const characters = [...run];
  return characters.slice(0, -1).map((character, at) => character + characters[at + 1]);
}
