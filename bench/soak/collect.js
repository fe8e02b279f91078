// @ts-check
// Loaded into the gateway by the soak, with --expose-gc: a signal collects the garbage, so that what is left can be compared.
process.on("SIGUSR2", () => /** @type {any} */ (globalThis).gc());
