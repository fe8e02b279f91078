/**
 * Splits a command line into words, without a shell: quotes keep words together, and a backslash
 * only takes the meaning of a quote, a space or another backslash, so that Windows paths stay
 * whole.
 */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let i = 0; i < line.length; i++) {
    const character = line[i]!;
    const next = line[i + 1];
    if (character === "\\" && quote !== "'" && next !== undefined && /["'\\ ]/.test(next)) {
      word = (word ?? "") + next;
      i++;
    } else if (character === quote) quote = undefined;
    else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character;
      word ??= "";
    } else if (quote === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  if (quote !== undefined) return undefined;
  return word === undefined ? words : [...words, word];
}
