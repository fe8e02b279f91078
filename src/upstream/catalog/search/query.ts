/**
 * Turns a question ("how do I see who changed this file?") into weighted search terms.
 *
 * Stop words are dropped, unless there are no other words. Some words bring synonyms at a lower
 * weight. Synonyms come right after their word, so that none counts as a word of the question.
 */

import { splitRuns, stem } from "./words.ts";

export interface QueryTerm {
  readonly word: string;
  readonly stem: string;
  /** True for a synonym of the nearest term before it that is not a synonym. */
  readonly synonym: boolean;
  readonly weight: number;
  /** The fraction of the question's word that counts as answered if this term matches. */
  readonly answers: number;
  /** Whether words that begin with it count, too. */
  readonly prefix: boolean;
  /** The number of typos to forgive if nothing else is found. */
  readonly typos: number;
}

/** What a synonym and a twin are worth, and how much of the word they answer. */
const SYNONYM = { weight: 0.25, answers: 0.4 };
const TWIN = { weight: 0.7, answers: 0.9 };

/**
 * Words of a question that name no tool. Common verbs of tool names (get, list, show) are not
 * included.
 */
const STOP = new Set(
  (
    "a about all am an and any are as at be been before by can could did do does for from give had has have having he " +
    "her here hey him his how i if in into is it its just kindly let like me my need not of on or our out over please " +
    "she should so some tell than that the their them then there these they this those to too under up us use using " +
    "want was way we were what when where which who whose why will with without would you your"
  ).split(" "),
);

/**
 * Words that tools and people use for the same thing. The sets are few, because they help little
 * (docs/search.md). The set "get, show, read, view" is missing because it lowered the measured
 * ranking.
 */
const SYNONYM_SETS = [
  "create add new make open",
  "delete remove drop erase",
  "update edit modify change",
  "search find query lookup",
  "run execute invoke",
  "answer reply respond",
  "mute silence",
  "directory folder",
  "repository repo",
  "issue bug ticket",
  "image picture photo",
  "website site web internet",
];

/** People say "make" where tools say "create"; in a description, "make" means anything. */
const SAID_FOR = new Map([["make", "create"]]);

/** Words that mean the same thing in nearly every tool. */
const TWINS = new Map(
  ["folder directory", "directory folder", "repo repository", "repository repo"].map((pair) => {
    const [word, twin] = pair.split(" ");
    return [stem(word!), twin!];
  }),
);

const SYNONYMS = new Map<string, Set<string>>();
for (const set of SYNONYM_SETS) {
  const words = set.split(" ");
  for (const one of words) {
    const others = SYNONYMS.get(stem(one)) ?? new Set<string>();
    for (const other of words) if (other !== one) others.add(other);
    SYNONYMS.set(stem(one), others);
  }
}

const MAX_WORDS = 32;

/**
 * Parses a text into terms; a text without words gives no terms. `known` tells whether a word is in
 * the index. A known compound counts as one word with its parts as synonyms; the parts of an
 * unknown compound count as words.
 */
export function parseQuery(text: string, known: (word: string) => boolean): QueryTerm[] {
  const runs = splitRuns(text).flatMap(({ whole, parts }) =>
    known(whole) ? [{ word: whole, parts }] : [whole, ...parts].map((word) => ({ word, parts: [] })),
  );
  const telling = runs.filter(({ word }) => !STOP.has(word));
  const terms: QueryTerm[] = [];
  const seen = new Set<string>();
  for (const { word: said, parts } of (telling.length > 0 ? telling : runs).slice(0, MAX_WORDS)) {
    const word = SAID_FOR.get(said) ?? said;
    const stemmed = stem(word);
    if (seen.has(stemmed)) continue;
    seen.add(stemmed);
    const own = { weight: 1, answers: 1, prefix: word.length > 2, typos: typosIn(word) };
    terms.push({ word, stem: stemmed, synonym: false, ...own });
    for (const other of [...parts, ...(SYNONYMS.get(stemmed) ?? [])]) {
      const worth = TWINS.get(stemmed) === other ? TWIN : SYNONYM;
      terms.push({ word: other, stem: stem(other), synonym: true, ...worth, prefix: false, typos: 0 });
    }
  }
  return terms;
}

function typosIn(word: string): number {
  if (word.length < 4 || /^[0-9]+$/.test(word)) return 0;
  return word.length < 9 ? 1 : 2;
}
