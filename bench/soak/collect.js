// @ts-check
// Loaded into the gateway by the soak, with --expose-gc: a signal collects the garbage and tells
// what is left, so that it can be compared.
process.on("SIGUSR2", () => {
  const { gc } = /** @type {any} */ (globalThis);
  gc();
  gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  process.send?.({ heap: heapUsed + arrayBuffers });
});
