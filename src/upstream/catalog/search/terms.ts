/**
 * The inverted index: maps words to documents, and scores documents for a list of terms (BM25F).
 *
 * A word counts once per field. In name, title and description it is worth more than in one of
 * them, but less than two different words. Several terms can stand for one word of the question:
 * the word itself, longer words, misspellings and synonyms. Only the best of them counts.
 *
 * Invariant: scores depend on the documents alone, not on the order of additions and removals.
 * Integers are summed, maxima are taken, and the sum over words runs in the order of the question.
 * Slots come from the index itself, so array reads at a slot never miss; hence the casts.
 *
 * This is the only user of minisearch. Its radix tree finds words by prefix and by edit distance;
 * its scoring is too slow and does not fit.
 */

import SearchableMap from "minisearch/SearchableMap";
import { type SearchDoc, type SearchTexts, textsOf } from "./document.ts";
import type { QueryTerm } from "./query.ts";
import type { Found } from "./rank.ts";
import { formsPrefix, splitWords, stem } from "./words.ts";

export interface TermIndex {
  add(doc: SearchDoc): void;
  /** Takes the same object that was added. */
  remove(doc: SearchDoc): void;
  has(word: string): boolean;
  /** Returns every document that matches any of the terms, unordered. */
  match(terms: readonly QueryTerm[]): Found[];
}

/** Measured, like the numbers below: see docs/search.md. */
const FIELD_WEIGHTS: Record<keyof SearchTexts, number> = {
  name: 6,
  title: 2,
  lead: 6,
  description: 3,
  args: 1,
  argTexts: 1,
  server: 6,
};
const FIELDS = Object.keys(FIELD_WEIGHTS) as (keyof SearchTexts)[];
/**
 * BM25 parameters: how fast repeats of a word stop counting, and how much long texts are penalised.
 */
const SATURATION = 4;
const LENGTH_SHARE = 0.75;
/** The weights of another form of a word, of a word that begins with it, and of a misspelling. */
const FORM_WEIGHT = 0.4;
const PREFIX_WEIGHT = 0.15;
const FUZZY_WEIGHT = 0.3;
/** Letters beyond this are not swapped. */
const MAX_SWAPPED = 24;

/**
 * The documents that contain a word, each with the word's count: slot × COUNTS + count, as one
 * small integer. One array instead of two halves the objects that garbage collection must keep, and
 * so its pauses.
 */
type Postings = number[];
/** One more than the highest count: that of a word in every field. */
const COUNTS = 1 + Object.values(FIELD_WEIGHTS).reduce((sum, weight) => sum + weight, 0);

export function createTermIndex(): TermIndex {
  const words = new Map<string, Postings>();
  const tree = new SearchableMap<Postings>();
  const docs: (SearchDoc | undefined)[] = [];
  const lengths: number[] = [];
  const free: number[] = [];
  const slotOf = new Map<SearchDoc, number>();
  let totalLength = 0;
  // Scratch arrays of `match`, all zero between calls.
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
        postings = [];
        words.set(word, postings);
        tree.set(word, postings);
      }
      postings.push(slot * COUNTS + count);
    }
  }

  function remove(doc: SearchDoc): void {
    const slot = slotOf.get(doc);
    if (slot === undefined) return;
    slotOf.delete(doc);
    docs[slot] = undefined;
    totalLength -= lengths[slot] ?? 0;
    free.push(slot);
    for (const [word, count] of countWords(doc)) {
      const postings = words.get(word);
      if (postings === undefined) continue;
      const at = postings.indexOf(slot * COUNTS + count);
      if (at < 0) continue;
      const last = postings.pop() as number;
      if (at < postings.length) postings[at] = last;
      if (postings.length > 0) continue;
      words.delete(word);
      tree.delete(word);
    }
  }

  /**
   * Records the word's score for each of its documents, unless another form of the word scored
   * higher.
   */
  function note(postings: Postings, weight: number, answers: number, touched: number[]): void {
    const rarity = Math.log(1 + (slotOf.size - postings.length + 0.5) / (postings.length + 0.5));
    const perLength = (SATURATION * LENGTH_SHARE * slotOf.size) / totalLength;
    for (let at = 0; at < postings.length; at++) {
      const posting = postings[at] as number;
      const count = posting % COUNTS;
      const slot = (posting - count) / COUNTS;
      const worth =
        (weight * rarity * count * (SATURATION + 1)) /
        (count + SATURATION * (1 - LENGTH_SHARE) + perLength * (lengths[slot] as number));
      if (wordAnswered[slot] === 0) touched.push(slot);
      if (answers > (wordAnswered[slot] as number)) wordAnswered[slot] = answers;
      if (worth > (wordScore[slot] as number)) wordScore[slot] = worth;
    }
  }

  /**
   * Scores the word, its other forms and words that begin with it. Tries misspellings only if these
   * find nothing.
   */
  function noteTerm(term: QueryTerm, touched: number[]): void {
    const { word, stem: stemmed, weight, answers, prefix, typos } = term;
    let nothing = true;
    for (const [other, postings] of tree.atPrefix(formsPrefix(stemmed))) {
      const share = shareOf(other, word, stemmed, prefix);
      if (share === 0) continue;
      nothing = false;
      note(postings, weight * share, answers, touched);
    }
    if (!nothing || typos === 0) return;
    for (const swapped of swaps(word)) {
      const form = stem(swapped);
      for (const [other, postings] of tree.atPrefix(formsPrefix(form))) {
        const share = shareOf(other, swapped, form, false);
        if (share > 0) note(postings, weight * FUZZY_WEIGHT * share, answers, touched);
      }
    }
    for (const [other, [postings, distance]] of tree.fuzzyGet(word, typos)) {
      note(postings, (weight * FUZZY_WEIGHT * other.length) / (other.length + distance), answers, touched);
    }
  }

  function match(terms: readonly QueryTerm[]): Found[] {
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
    const matches: Found[] = [];
    for (const slot of found) {
      const doc = docs[slot];
      // The answered share of the question: two words of two beat one rare word.
      const score = ((scores[slot] as number) * (answered[slot] as number)) / wordCount;
      scores[slot] = 0;
      answered[slot] = 0;
      if (doc !== undefined) matches.push({ doc, score });
    }
    return matches;
  }

  return { add, remove, match, has: (word) => words.has(word) };
}

/** Returns the word with each pair of neighbouring letters swapped: one typo to a typist. */
function* swaps(word: string): Generator<string> {
  for (let i = 0; i + 1 < Math.min(word.length, MAX_SWAPPED); i++) {
    if (word[i] === word[i + 1]) continue;
    yield word.slice(0, i) + word[i + 1] + word[i] + word.slice(i + 2);
  }
}

/** Returns the weight of another word relative to the word itself. */
function shareOf(other: string, word: string, stemmed: string, prefix: boolean): number {
  if (other === word) return 1;
  if (stem(other) === stemmed) return FORM_WEIGHT;
  if (!prefix || !other.startsWith(word)) return 0;
  return (PREFIX_WEIGHT * other.length) / (other.length + 0.3 * (other.length - word.length));
}

/** Returns the count of each word of a document: the sum of the weights of its fields. */
function countWords(doc: SearchDoc): Map<string, number> {
  const counts = new Map<string, number>();
  const lastField = new Map<string, string>();
  const texts = textsOf(doc);
  for (const field of FIELDS) {
    for (const word of splitWords(texts[field])) {
      if (lastField.get(word) === field) continue;
      lastField.set(word, field);
      counts.set(word, (counts.get(word) ?? 0) + FIELD_WEIGHTS[field]);
    }
  }
  return counts;
}
