/**
 * Logs why tokens were refused, for the operator. A flood of bad tokens must not flood the log:
 * past a few lines a second, refusals are only counted, and the count is in the next line.
 */
const LINES_PER_SECOND = 10;

export function refusalLog(
  write: (fields: { readonly reason: string; readonly notShown?: number }) => void,
  now: () => number = Date.now,
): (reason: string) => void {
  let second = 0;
  let lines = 0;
  let notShown = 0;
  return (reason) => {
    const current = Math.floor(now() / 1000);
    if (current !== second) [second, lines] = [current, 0];
    if (++lines > LINES_PER_SECOND) {
      notShown++;
      return;
    }
    write({ reason, ...(notShown > 0 && { notShown }) });
    notShown = 0;
  };
}
