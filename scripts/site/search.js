/** The search of the pages: every word must occur; headings count more than text. */
const field = document.getElementById("search");
const results = document.getElementById("results");
const MAX_RESULTS = 12;

field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = globalThis.searchIndex
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_RESULTS);
  results.replaceChildren(...found.map(({ entry }) => rowOf(entry, words)));
  results.hidden = words.length === 0;
  if (words.length > 0 && found.length === 0) results.append("Nothing found.");
});

function scoreOf({ page, heading, text }, words) {
  let score = words.length === 0 ? 0 : 1;
  for (const word of words) {
    const inHeading = heading.toLowerCase().includes(word);
    const inPage = page.toLowerCase().includes(word);
    const inText = text.toLowerCase().includes(word);
    if (!inHeading && !inPage && !inText) return 0;
    score += (inHeading ? 5 : 0) + (inPage ? 3 : 0) + (inText ? 1 : 0);
  }
  return score;
}

function rowOf({ page, heading, href, text }, words) {
  const row = document.createElement("li");
  const link = document.createElement("a");
  link.href = href;
  link.textContent = heading === page ? page : `${page}: ${heading}`;
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
  const piece = document.createElement("p");
  piece.textContent = text.slice(at, at + 140);
  row.append(link, piece);
  return row;
}
