/**
 * Finds entries that are not indexed yet by scanning their raw texts for the query's words.
 *
 * Invariant: the scan finds every entry that the index would find by word, stem, prefix or synonym.
 * This holds because words are substrings of the folded text, and stems (except -ies) are prefixes
 * of their words.
 *
 * The scan is cheap: it runs a few regular expressions on raw texts and copies nothing. It forgives
 * no typos. Scores are coarse: the number of query words in the name, else whether any word is in
 * the other texts.
 */

import type { SearchDoc } from "./document.ts";
import type { QueryTerm } from "./query.ts";
import { fold } from "./words.ts";

const FOREIGN = /[^\0-\x7f]/;
const NAME_SCORE = 6;
const TEXT_SCORE = 2;

/** Creates a function that scores a document: 0 if it contains no word of the query. */
export function createScan(terms: readonly QueryTerm[]): (doc: SearchDoc) => number {
  const words: string[][] = [];
  for (const { stem, synonym } of terms) {
    if (synonym) words.at(-1)?.push(needle(stem));
    else words.push([needle(stem)]);
  }
  const patterns = words.map((forms) => new RegExp(forms.join("|"), "i"));
  const any = new RegExp(words.flat().join("|"), "i");

  // A text with other characters may match only after folding.
  const anyOrForeign = new RegExp(`${any.source}|${FOREIGN.source}`, "i");

  return (doc) => {
    const name = plain(doc.name);
    const original = plain(doc.originalName);
    let named = 0;
    for (const pattern of patterns) if (pattern.test(name) || pattern.test(original)) named += 1;
    if (named > 0) return named * NAME_SCORE;
    return textsOf(doc).some((text) => anyOrForeign.test(text) && any.test(plain(text))) ? TEXT_SCORE : 0;
  };
}

/** The patterns ignore case, so only accents need folding. */
const plain = (text: string): string => (FOREIGN.test(text) ? fold(text) : text);

/** Words consist of letters and digits, so nothing needs escaping. */
const needle = (stem: string): string => (stem.endsWith("y") ? `${stem.slice(0, -1)}(?:y|ie)` : stem);

function textsOf(doc: SearchDoc): string[] {
  const texts = [doc.description ?? "", doc.title ?? "", doc.serverId];
  if (doc.mimeType !== undefined) texts.push(doc.mimeType);
  for (const arg of doc.args ?? []) {
    texts.push(arg.name);
    if (arg.description !== undefined) texts.push(arg.description);
  }
  return texts;
}
