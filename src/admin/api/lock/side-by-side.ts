/**
 * Two texts side by side, for people: JSON as sorted, indented lines with numbers as they are
 * written, other texts as they are. The command line, the dashboard and the page show it.
 */

export interface SideBySide {
  readonly left: string | undefined;
  readonly right: string | undefined;
  readonly isSame: boolean;
}

/** Beyond this many comparisons, only the common beginning and end are aligned. */
const MAX_COMPARED = 1_000_000;

export function sideBySide(before: string | null, after: string | null): SideBySide[] {
  return aligned(linesOf(before), linesOf(after));
}

/** The rows with a difference, and those around them. Undefined: rows that are left out. */
export function nearChanges(rows: readonly SideBySide[], around = 2): (SideBySide | undefined)[] {
  const near = new Set<number>();
  rows.forEach((row, i) => {
    if (!row.isSame) for (let n = i - around; n <= i + around; n++) near.add(n);
  });
  const shown: (SideBySide | undefined)[] = [];
  rows.forEach((row, i) => {
    if (near.has(i)) shown.push(row);
    else if (shown.length > 0 && shown.at(-1) !== undefined) shown.push(undefined);
  });
  if (shown.at(-1) === undefined) shown.pop();
  return shown;
}

function linesOf(text: string | null): string[] {
  if (text === null) return [];
  return text.startsWith("{") && isJson(text) ? jsonLines(text) : text.split("\n");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The text must be valid JSON. */
function jsonLines(text: string): string[] {
  const tokens = [...text.matchAll(TOKEN)].map(([token]) => token);
  let at = 0;
  const value = (): string[] => {
    const token = tokens[at++]!;
    if (token === "{" || token === "[") return container(token);
    // Line breaks of a text are shown as such.
    return token.startsWith('"') ? token.split("\\n") : [token];
  };
  const container = (open: string): string[] => {
    const parts: { readonly key: string; readonly lines: string[] }[] = [];
    const close = open === "{" ? "}" : "]";
    while (tokens[at] !== close) {
      let key = "";
      if (open === "{") {
        key = tokens[at]!;
        at += 2;
      }
      const lines = value();
      parts.push({ key, lines: key === "" ? lines : [`${key}: ${lines[0]}`, ...lines.slice(1)] });
      if (tokens[at] === ",") at++;
    }
    at++;
    if (open === "{") parts.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    if (parts.length === 0) return [open + close];
    return [open, ...parts.flatMap(({ lines }) => lines.map((line) => `  ${line}`)), close];
  };
  return value();
}

function aligned(left: readonly string[], right: readonly string[]): SideBySide[] {
  let head = 0;
  while (head < left.length && head < right.length && left[head] === right[head]) head++;
  let tail = 0;
  const most = Math.min(left.length, right.length) - head;
  while (tail < most && left.at(-1 - tail) === right.at(-1 - tail)) tail++;
  const same = (line: string): SideBySide => ({ left: line, right: line, isSame: true });
  return [
    ...left.slice(0, head).map(same),
    ...middle(left.slice(head, left.length - tail), right.slice(head, right.length - tail)),
    ...left.slice(left.length - tail).map(same),
  ];
}

/** Aligns by the longest common subsequence of lines. */
function middle(left: readonly string[], right: readonly string[]): SideBySide[] {
  if (left.length * right.length > MAX_COMPARED) return paired(left, right);
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  for (let l = left.length - 1; l >= 0; l--) {
    for (let r = right.length - 1; r >= 0; r--) {
      lengths[l * width + r] =
        left[l] === right[r]
          ? lengths[(l + 1) * width + r + 1]! + 1
          : Math.max(lengths[(l + 1) * width + r]!, lengths[l * width + r + 1]!);
    }
  }
  const rows: SideBySide[] = [];
  let [removed, added]: [string[], string[]] = [[], []];
  const flush = (): void => {
    rows.push(...paired(removed, added));
    [removed, added] = [[], []];
  };
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    if (l < left.length && r < right.length && left[l] === right[r]) {
      flush();
      rows.push({ left: left[l++], right: right[r++], isSame: true });
    } else if (r >= right.length || (l < left.length && lengths[(l + 1) * width + r]! >= lengths[l * width + r + 1]!)) {
      removed.push(left[l++]!);
    } else added.push(right[r++]!);
  }
  flush();
  return rows;
}

function paired(left: readonly string[], right: readonly string[]): SideBySide[] {
  const count = Math.max(left.length, right.length);
  return Array.from({ length: count }, (_, i) => ({ left: left[i], right: right[i], isSame: false }));
}
