/**
 * The difference of two texts in lines, for people: what was removed, then what was added. Secrets
 * are hidden.
 */
import { hideSecrets } from "./plain-secrets.ts";

const MAX_SHOWN_LINES = 40;

export function lineDiff(before: string, after: string): string[] {
  const [old, next] = [before, after].map(split) as [string[], string[]];
  const [oldShown, nextShown] = [before, after].map((text) => split(hideSecrets(text))) as [string[], string[]];
  let head = 0;
  while (head < old.length && head < next.length && old[head] === next[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, next.length) - head;
  while (tail < most && old.at(-1 - tail) === next.at(-1 - tail)) tail++;
  const lines = [
    ...oldShown.slice(head, old.length - tail).map((line) => `- ${line}`),
    ...nextShown.slice(head, next.length - tail).map((line) => `+ ${line}`),
  ];
  if (lines.length <= MAX_SHOWN_LINES) return lines;
  return [...lines.slice(0, MAX_SHOWN_LINES), `… ${lines.length - MAX_SHOWN_LINES} more lines`];
}

function split(text: string): string[] {
  return text.split(/\r?\n/);
}
