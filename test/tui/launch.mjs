// Runs the built dashboard in the pty tests: node launch.mjs <runTui module> <url> [token]
const [, , module, url, token] = process.argv;
const { runTui } = await import(module);
// For the crash tests: an exception that nobody catches, and a view that throws while it is drawn.
process.on("SIGUSR2", () => {
  throw new Error("crashed on purpose");
});
process.stdout.on("resize", () => {
  if (process.stdout.columns !== 77) return;
  String.prototype.padStart = () => {
    throw new Error("a view that throws");
  };
});
process.exitCode = await runTui({ url, token });
