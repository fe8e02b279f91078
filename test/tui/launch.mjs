// Runs the built dashboard in the pty tests: node launch.mjs <runTui module> <url> [token]
const [, , module, url, token] = process.argv;
const { runTui } = await import(module);
// For the crash test: an exception that nobody catches, while the dashboard runs.
if (process.env.TUI_TEST_CRASH)
  setTimeout(() => {
    throw new Error("crashed on purpose");
  }, Number(process.env.TUI_TEST_CRASH));
process.exitCode = await runTui({ url, token });
