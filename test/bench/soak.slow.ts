/**
 * The soak must be able to fail. Each mutant is one fault between clients and gateway, or in the
 * gateway's own process, and the soak has to name it; without a mutant it has to pass. Run by `npm
 * run test:slow`: it takes a few minutes.
 */
import { spawn } from "node:child_process";
import { expect, test } from "vitest";

const SECONDS = 180;

function soak(args: string[]): Promise<{ code: number | null; output: string }> {
  const all = ["bench/soak.js", "--share", "session", ...args];
  const child = spawn(process.execPath, all, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
  }
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

// Once more, because rare events of a busy machine count as problems, too.
test("passes where nothing is wrong", { timeout: SECONDS * 1000, retry: 1 }, async () => {
  const { code, output } = await soak(["--minutes", "0.25", "--seed", "7"]);
  expect(output).toMatch(/^passed$/m);
  expect(code).toBe(0);
  expect(output).toMatch(/^calls +\d{3,} /m);
  expect(output).toMatch(/, and 2 ends of the gateway$/m);
});

/** Those whose faults show at once end the run; the others are judged at its end. */
const mutants: [what: string, mutant: string, kind: string, args: string[]][] = [
  ["every call executed twice", "twice", "executedTwice", ["--minutes", "1", "--until", "executedTwice"]],
  ["log lines to everybody", "logs", "foreignLogs", ["--minutes", "1", "--until", "foreignLogs"]],
  ["60 % refused", "refuse", "floor", ["--minutes", "1", "--until", "floor"]],
  ["half of the updates dropped", "updates", "lostUpdates", ["--minutes", "0.15"]],
  ["answers swapped once in 1 000", "swap", "foreignAnswers", ["--minutes", "1", "--until", "foreignAnswers"]],
  ["one answer in 200 lost", "lose", "lostAnswers", ["--minutes", "1", "--until", "lostAnswers"]],
  ["answers that a graceful stop loses", "stop", "cutByStop", ["--minutes", "0.3"]],
  ["memory that is kept", "heap", "resources", ["--minutes", "0.15"]],
  ["descriptors that are kept", "descriptors", "resources", ["--minutes", "0.15"]],
  ["an exception that nobody caught", "mistake", "log", ["--minutes", "1", "--until", "log"]],
];

test.each(mutants)("finds %s", { timeout: SECONDS * 1000 }, async (_what, mutant, kind, args) => {
  const { code, output } = await soak(["--mutant", mutant, "--seed", "7", ...args]);
  expect(output).toMatch(new RegExp(`^ {2}${kind}: \\d+ \\(`, "m"));
  expect(output).toMatch(/^FAILED \(seed 7\)$/m);
  expect(code).toBe(1);
});
