/**
 * Reads what somebody asks ("how do I see who changed this file?") as weighted search terms.
 *
 * Words that say nothing about a tool are dropped (unless there is nothing else), a word that the index does not know
 * is also matched with typos, and some words bring their synonyms at a lower weight, right after them, so that a
 * synonym is never taken for a word of the question.
 */

import { fold, splitRuns, stem } from "./search-words.ts";

export interface QueryTerm {
  readonly term: string;
  /** A synonym of the last term before it that is none. */
  readonly synonym: boolean;
  readonly weight: number;
  readonly prefix: boolean;
  /** How many typos are forgiven; 0 for none. */
  readonly fuzzy: number;
}

const SYNONYM_WEIGHT = 0.25;

/** Words of a question that name no tool. Verbs that tools are named after (get, list, show) are not among them. */
const STOP = new Set(
  (
    "a about all am an and any are as at be been before by can could did do does for from give had has have having he " +
    "her here hey him his how i if in into is it its just kindly let like me my need not of on or our out over please " +
    "she should so some tell than that the their them then there these they this those to too under up us use using " +
    "want was way we were what when where which who whose why will with without would you your"
  ).split(" "),
);

/** Sets of words that tools and people use for the same thing. Small on purpose: each set was measured to help. */
const SYNONYM_SETS = [
  "create add new make open start",
  "delete remove drop erase",
  "get fetch read retrieve show view see",
  "update edit modify change set",
  "search find query lookup",
  "list show all",
  "run execute invoke",
  "send post",
  "answer reply respond",
  "stop cancel end",
  "directory folder",
  "repository repo",
  "issue bug ticket",
  "image picture photo screenshot",
  "website site web internet online",
  "page url",
  "phone mobile device",
  "multiple several many",
  "current now latest recent",
  "person user people member",
  "elevation altitude height",
  "mute silence",
  "video record recording",
];

const SYNONYMS = new Map<string, Set<string>>();
for (const set of SYNONYM_SETS) {
  const stems = set.split(" ").map(stem);
  for (const one of stems) {
    const others = SYNONYMS.get(one) ?? new Set<string>();
    for (const other of stems) if (other !== one) others.add(other);
    SYNONYMS.set(one, others);
  }
}

const MAX_WORDS = 32;

/** `known` tells whether a stem is in the index. Without any word in the text there are no terms. */
export function parseQuery(text: string, known: (term: string) => boolean): QueryTerm[] {
  const words = wordsOf(text, known);
  const telling = words.filter((word) => !STOP.has(word));
  const terms: QueryTerm[] = [];
  const seen = new Set<string>();
  for (const word of (telling.length > 0 ? telling : words).slice(0, MAX_WORDS)) {
    const term = stem(word);
    if (seen.has(term)) continue;
    seen.add(term);
    terms.push({ term, synonym: false, weight: 1, prefix: term.length > 2, fuzzy: known(term) ? 0 : typos(word) });
    for (const other of SYNONYMS.get(term) ?? []) {
      terms.push({ term: other, synonym: true, weight: SYNONYM_WEIGHT, prefix: false, fuzzy: 0 });
    }
  }
  return terms;
}

/** A compound that the index knows stands for itself; otherwise its parts do, and the compound too. */
function wordsOf(text: string, known: (term: string) => boolean): string[] {
  const words: string[] = [];
  for (const { whole, parts } of splitRuns(text)) {
    words.push(whole);
    if (!known(stem(whole))) words.push(...parts);
  }
  return words.map(fold);
}

function typos(word: string): number {
  if (word.length < 4 || /^[0-9]+$/.test(word)) return 0;
  return word.length < 9 ? 1 : 2;
}
