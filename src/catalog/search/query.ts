/**
 * Reads what somebody asks ("how do I see who changed this file?") as weighted search terms.
 *
 * Words that say nothing about a tool are dropped (unless there is nothing else), and some words
 * bring their synonyms at a lower weight, right after them, so that a synonym is never taken for a
 * word of the question.
 */

import { splitRuns, stem } from "./words.ts";

export interface QueryTerm {
  readonly word: string;
  readonly stem: string;
  /** A synonym of the last term before it that is none. */
  readonly synonym: boolean;
  readonly weight: number;
  /** Whether words that begin with it count, too. */
  readonly prefix: boolean;
  /** How many typos are forgiven where nothing else is found; 0 for none. */
  readonly typos: number;
}

const SYNONYM_WEIGHT = 0.25;

/**
 * Words of a question that name no tool. Verbs that tools are named after (get, list, show) are not
 * among them.
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
 * Sets of words that tools and people use for the same thing. SmallMap, because they help little
 * (docs/search.md); a set that lowered the measured ranking (get, show, read, view) is not among
 * them.
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
 * `known` tells whether a word is in the index. A compound that it knows stands for itself, and its
 * parts are no more than synonyms of it; otherwise they are words of their own. Without any word in
 * the text there are no terms.
 */
export function parseQuery(text: string, known: (word: string) => boolean): QueryTerm[] {
  const runs = splitRuns(text).flatMap(({ whole, parts }) =>
    known(whole) ? [{ word: whole, parts }] : [whole, ...parts].map((word) => ({ word, parts: [] })),
  );
  const telling = runs.filter(({ word }) => !STOP.has(word));
  const terms: QueryTerm[] = [];
  const seen = new Set<string>();
  for (const { word, parts } of (telling.length > 0 ? telling : runs).slice(0, MAX_WORDS)) {
    const stemmed = stem(word);
    if (seen.has(stemmed)) continue;
    seen.add(stemmed);
    terms.push({ word, stem: stemmed, synonym: false, weight: 1, prefix: word.length > 2, typos: typosIn(word) });
    for (const other of [...parts, ...(SYNONYMS.get(stemmed) ?? [])]) {
      terms.push({ word: other, stem: stem(other), synonym: true, weight: SYNONYM_WEIGHT, prefix: false, typos: 0 });
    }
  }
  return terms;
}

function typosIn(word: string): number {
  if (word.length < 4 || /^[0-9]+$/.test(word)) return 0;
  return word.length < 9 ? 1 : 2;
}
