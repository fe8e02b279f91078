import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { defects } from "./test/attack/defects.ts";
import { filesOf, namePattern } from "./test/attack/selection.ts";

/**
 * Slow and thorough tests have a mode of their own, and so has that of the soak, which wants the
 * machine for itself: `npm run test:slow` runs both. `npm run attack` runs the tests of the attacks
 * that succeeded once.
 */
const soak = "test/bench/soak.slow.ts";
const included: Record<string, () => string[]> = {
  slow: () => ["test/**/*.slow.ts", ...thorough()],
  soak: () => [soak],
  attack: () => filesOf(defects),
};

/** The tests that try more in the slow mode: see test/fixtures/thorough.ts. */
function thorough(): string[] {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" }).map((file) => `test/${file}`);
  return files.filter((file) => file.endsWith(".test.ts") && /\/thorough\.ts"/.test(readFileSync(file, "utf8")));
}

export default defineConfig(({ mode }) => ({
  test: {
    include: included[mode]?.() ?? ["test/**/*.test.ts", "test/**/*.test.tsx"],
    ...(mode === "slow" && { exclude: [soak] }),
    ...(mode === "attack" && { testNamePattern: namePattern(defects) }),
    // On a machine that others use, too, a test may fail by chance; a fault fails it every time.
    retry: Number(process.env["GOBLIN_TEST_RETRIES"] ?? 0),
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    pool: "forks",
    env: included[mode] ? { GOBLIN_TEST_THOROUGH: "1" } : {},
    // Tests wait longer than they compute.
    maxWorkers: Math.max(4, 2 * availableParallelism()),
    // A worker keeps its modules, compiled and warm, from file to file.
    isolate: false,
  },
}));
