/** The difference of two texts in lines, for people: what was removed, then what was added. */

const SHOWN_LINES = 40;

export function lineDiff(before: string, after: string): string[] {
  const [old, next] = [before, after].map((text) => text.split(/\r?\n/)) as [string[], string[]];
  let head = 0;
  while (head < old.length && head < next.length && old[head] === next[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, next.length) - head;
  while (tail < most && old.at(-1 - tail) === next.at(-1 - tail)) tail++;
  const lines = [
    ...old.slice(head, old.length - tail).map((line) => `- ${line}`),
    ...next.slice(head, next.length - tail).map((line) => `+ ${line}`),
  ];
  if (lines.length <= SHOWN_LINES) return lines;
  return [...lines.slice(0, SHOWN_LINES), `… ${lines.length - SHOWN_LINES} more lines`];
}
