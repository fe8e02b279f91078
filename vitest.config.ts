import { defineConfig } from "vitest/config";
import { defects } from "./test/attack/defects.ts";
import { filesOf, namePattern } from "./test/attack/selection.ts";

/**
 * Slow and thorough tests have a mode of their own, and so has that of the soak, which wants the
 * machine for itself: `npm run test:slow` runs both. `npm run attack` runs the tests of the attacks
 * that succeeded once.
 */
const soak = "test/bench/soak.slow.ts";
const included: Record<string, string[]> = {
  slow: ["test/**/*.slow.ts"],
  soak: [soak],
  attack: filesOf(defects),
};

export default defineConfig(({ mode }) => ({
  test: {
    include: included[mode] ?? ["test/**/*.test.ts", "test/**/*.test.tsx"],
    ...(mode === "slow" && { exclude: [soak] }),
    ...(mode === "attack" && { testNamePattern: namePattern(defects) }),
    // On a machine that others use, too, a test may fail by chance; a fault fails it every time.
    retry: Number(process.env["GOBLIN_TEST_RETRIES"] ?? 0),
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    pool: "forks",
    // Three on two cores: tests wait as much as they compute.
    maxWorkers: 3,
    // A worker keeps its modules, compiled and warm, from file to file.
    isolate: false,
  },
}));
