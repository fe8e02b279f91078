/**
 * The inverted index: which documents have which word, and how well they answer a list of terms (BM25F).
 *
 * A word counts by the fields it stands in, so that one word in name, title and description is worth more than in one
 * of them, but less than two different words. Of the terms that stand for one word of the question (the word itself,
 * words that begin with it, misspellings, synonyms) only the best counts.
 *
 * Must always hold: scores depend on the documents alone, not on the order of additions and removals: integers are
 * summed, maxima taken, and the sum over the words runs in the order of the question. The only user of minisearch,
 * whose radix tree finds words by prefix and by edit distance.
 */

import SearchableMap from "minisearch/SearchableMap";
import { type SearchDoc, type SearchTexts, textsOf } from "./search-doc.ts";
import type { QueryTerm } from "./search-query.ts";
import { splitWords } from "./search-words.ts";

export interface TermIndex {
  add(doc: SearchDoc): void;
  /** Takes the very document that was added. */
  remove(doc: SearchDoc): void;
  has(term: string): boolean;
  /** Calls back for every document that answers any of the terms. */
  match(terms: readonly QueryTerm[], each: (doc: SearchDoc, score: number) => void): void;
}

/** Measured, like the numbers below: see docs/search.md. */
export const FIELD_WEIGHTS: Record<keyof SearchTexts, number> = {
  name: 6,
  title: 2,
  lead: 6,
  description: 2,
  args: 1,
  argTexts: 1,
  server: 6,
};
const FIELDS = Object.keys(FIELD_WEIGHTS) as (keyof SearchTexts)[];
export const T = { k: 4, b: 0.6, prefix: 0.2, fuzzy: 0.3, sc: 0.4, cov: 1 };

/** Parallel arrays: the slots of the documents that have the word, and what it counts in each. */
interface Postings {
  readonly slots: number[];
  readonly counts: number[];
}

export function createTermIndex(): TermIndex {
  const words = new Map<string, Postings>();
  const tree = new SearchableMap<Postings>();
  const docs: (SearchDoc | undefined)[] = [];
  const lengths: number[] = [];
  const free: number[] = [];
  const slotOf = new Map<SearchDoc, number>();
  let totalLength = 0;
  // Scratch of `match`, all zero between calls.
  let scores = new Float64Array(0);
  let answered = new Float64Array(0);
  let wordScore = new Float64Array(0);
  let wordAnswered = new Float64Array(0);

  function add(doc: SearchDoc): void {
    const slot = free.pop() ?? docs.length;
    const counts = countWords(doc);
    docs[slot] = doc;
    lengths[slot] = counts.size;
    slotOf.set(doc, slot);
    totalLength += counts.size;
    for (const [word, count] of counts) {
      let postings = words.get(word);
      if (postings === undefined) {
        postings = { slots: [], counts: [] };
        words.set(word, postings);
        tree.set(word, postings);
      }
      postings.slots.push(slot);
      postings.counts.push(count);
    }
  }

  function remove(doc: SearchDoc): void {
    const slot = slotOf.get(doc);
    if (slot === undefined) return;
    slotOf.delete(doc);
    docs[slot] = undefined;
    totalLength -= lengths[slot] ?? 0;
    free.push(slot);
    for (const word of countWords(doc).keys()) {
      const postings = words.get(word);
      if (postings === undefined) continue;
      const at = postings.slots.indexOf(slot);
      const lastSlot = postings.slots.pop() ?? slot;
      const lastCount = postings.counts.pop() ?? 0;
      if (at < postings.slots.length) {
        postings.slots[at] = lastSlot;
        postings.counts[at] = lastCount;
      }
      if (postings.slots.length > 0) continue;
      words.delete(word);
      tree.delete(word);
    }
  }

  /** Notes for every document with the word what it is worth, unless another form of the word was worth more. */
  function note(postings: Postings, weight: number, answers: number, touched: number[]): void {
    const { slots, counts } = postings;
    const rarity = Math.log(1 + (slotOf.size - slots.length + 0.5) / (slots.length + 0.5));
    const perLength = (T.k * T.b * slotOf.size) / totalLength;
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] as number;
      const count = counts[at] as number;
      const worth =
        (weight * rarity * count * (T.k + 1)) / (count + T.k * (1 - T.b) + perLength * (lengths[slot] as number));
      if (wordAnswered[slot] === 0) touched.push(slot);
      if (answers > (wordAnswered[slot] as number)) wordAnswered[slot] = answers;
      if (worth > (wordScore[slot] as number)) wordScore[slot] = worth;
    }
  }

  function noteTerm({ term, synonym, weight, prefix, fuzzy }: QueryTerm, touched: number[]): void {
    const answers = synonym ? T.sc : 1;
    const exact = words.get(term);
    if (exact !== undefined) note(exact, weight, answers, touched);
    if (prefix) {
      for (const [word, postings] of tree.atPrefix(term)) {
        const beyond = word.length - term.length;
        if (beyond > 0)
          note(postings, (weight * T.prefix * word.length) / (word.length + 0.3 * beyond), answers, touched);
      }
    }
    if (fuzzy > 0) {
      for (const [word, [postings, distance]] of tree.fuzzyGet(term, fuzzy)) {
        if (distance > 0) note(postings, (weight * T.fuzzy * word.length) / (word.length + distance), answers, touched);
      }
    }
  }

  function match(terms: readonly QueryTerm[], each: (doc: SearchDoc, score: number) => void): void {
    if (scores.length < docs.length) {
      const room = docs.length * 2;
      scores = new Float64Array(room);
      answered = new Float64Array(room);
      wordScore = new Float64Array(room);
      wordAnswered = new Float64Array(room);
    }
    const found: number[] = [];
    let touched: number[] = [];
    let wordCount = 0;
    const closeWord = () => {
      for (const slot of touched) {
        if (answered[slot] === 0) found.push(slot);
        scores[slot] = (scores[slot] as number) + (wordScore[slot] as number);
        answered[slot] = (answered[slot] as number) + (wordAnswered[slot] as number);
        wordScore[slot] = 0;
        wordAnswered[slot] = 0;
      }
      touched = [];
    };
    for (const term of terms) {
      if (!term.synonym) {
        closeWord();
        wordCount += 1;
      }
      noteTerm(term, touched);
    }
    closeWord();
    for (const slot of found) {
      const doc = docs[slot];
      const score = (scores[slot] as number) * ((answered[slot] as number) / wordCount) ** T.cov;
      scores[slot] = 0;
      answered[slot] = 0;
      if (doc !== undefined) each(doc, score);
    }
  }

  return { add, remove, match, has: (term) => words.has(term) };
}

/** What each word of a document counts: the sum over the fields that have it. */
function countWords(doc: SearchDoc): Map<string, number> {
  const counts = new Map<string, number>();
  const texts = textsOf(doc);
  for (const field of FIELDS) {
    for (const word of new Set(splitWords(texts[field]))) {
      counts.set(word, (counts.get(word) ?? 0) + FIELD_WEIGHTS[field]);
    }
  }
  return counts;
}
