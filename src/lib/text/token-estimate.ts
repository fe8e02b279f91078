/**
 * Estimates the tokens of a text, usually a tool's JSON definition in a model's context.
 *
 * There is no tokenizer and no vocabulary: one pass adds up an average cost per class of
 * characters. The costs were fitted to OpenAI's o200k_base on 785 tool definitions of 34 public MCP
 * servers, then rounded. Per definition, the mean error is 2 %, 95 of 100 are within 5 %, and the
 * worst is off by 12 %; the sum is off by 1 %. Against cl100k_base these are 3 %, 7 %, 15 % and 2
 * %. A fit to half of the servers has the same error on the other half. (Bytes divided by four: 10
 * and 12 % mean error.) Tokenizers of other models differ from these two by more than the estimate
 * does.
 *
 * Invariants: linear time, deterministic, 0 for an empty text. A prefix never costs more than the
 * whole text, except for rounding.
 */

/** A word of up to eight letters is about one token; camelCase starts a new one. */
const WORD = 0.98;
const LETTERS_IN_WORD = 8;
const LETTER_BEYOND = 0.19;
const CASE_CHANGE = 1;
/** Digits come in groups of up to three. */
const DIGITS = 1.3;
/** Punctuation merges: `":{"` is one token. */
const PUNCTUATION = 0.78;
const MARKS_IN_TOKEN = 3;
const MARK_BEYOND = 0.6;
/** One space belongs to the next word; several are a token. */
const WIDE_SPACE = 1.6;
/**
 * Other characters, by UTF-16 code unit. East Asian characters take about one token; symbols and
 * emoji take several.
 */
const EAST_ASIAN = 0.8;
const FOREIGN = 1.3;

export function estimateTokens(text: string): number {
  let cost = 0;
  let at = 0;
  while (at < text.length) {
    const kind = kindOf(text.charCodeAt(at));
    let end = at + 1;
    if (kind === LOWER || kind === UPPER) {
      let before = kind;
      let letters = 1;
      cost += WORD;
      for (; end < text.length; end++) {
        const next = kindOf(text.charCodeAt(end));
        if (next !== LOWER && next !== UPPER) break;
        if (next === UPPER && before === LOWER) {
          cost += CASE_CHANGE;
          letters = 0;
        }
        letters += 1;
        if (letters > LETTERS_IN_WORD) cost += LETTER_BEYOND;
        before = next;
      }
    } else {
      while (end < text.length && kindOf(text.charCodeAt(end)) === kind) end += 1;
      cost += runCost(kind, end - at);
    }
    at = end;
  }
  return Math.ceil(cost);
}

const LOWER = 0;
const UPPER = 1;
const DIGIT = 2;
const SPACE = 3;
const MARK = 4;
const EASTERN = 5;
const OTHER = 6;

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return LOWER;
  if (code >= 65 && code <= 90) return UPPER;
  if (code >= 48 && code <= 57) return DIGIT;
  if (code <= 32) return SPACE;
  if (code < 127) return MARK;
  return code >= 0x3040 && code <= 0xd7af ? EASTERN : OTHER;
}

function runCost(kind: number, length: number): number {
  if (kind === DIGIT) return DIGITS * Math.ceil(length / 3);
  if (kind === SPACE) return length > 1 ? WIDE_SPACE : 0;
  if (kind === MARK) return PUNCTUATION + MARK_BEYOND * Math.max(0, length - MARKS_IN_TOKEN);
  return (kind === EASTERN ? EAST_ASIAN : FOREIGN) * length;
}
