// @ts-check
// Loaded into a measured process where there is no /proc: answers its parent with what it has used.
// The channel must not keep the process alive.

process.on("message", (/** @type {any} */ message) => {
  if (message?.benchUsage !== true) return;
  const { user, system } = process.cpuUsage();
  process.send?.({ benchUsage: { cpuUs: user + system, rssBytes: process.memoryUsage.rss() } });
});
/** @type {any} */ (process).channel?.unref();
