// @ts-check
// Waiting, for a time or for something to be true.

/** @param {number} ms */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether it became true in time. @param {() => unknown} predicate @param {number} ms */
export async function until(predicate, ms) {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    if (await predicate()) return true;
    await pause(50);
  }
  return Boolean(await predicate());
}
