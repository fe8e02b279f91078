/**
 * Matches the allow and deny patterns of the config: `*` stands for any characters, `?` for one,
 * and everything else is literal. Matching is a two-pointer walk, so no pattern can make it slow.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t]) && pattern[p] !== "*") {
      p++;
      t++;
    } else if (pattern[p] === "*") {
      star = p++;
      mark = t;
    } else if (star !== -1) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}
