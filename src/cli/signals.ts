/** Waits for SIGINT or SIGTERM; a second signal ends the process at once. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const first = (signal: NodeJS.Signals): void => {
      for (const name of ["SIGINT", "SIGTERM"] as const) {
        process.off(name, first);
        process.on(name, () => process.exit(1));
      }
      resolve(signal);
    };
    process.on("SIGINT", first);
    process.on("SIGTERM", first);
  });
}
