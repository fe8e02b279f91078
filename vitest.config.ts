import { defineConfig } from "vitest/config";
import { defects } from "./test/attack/defects.ts";
import { filesOf, namePattern } from "./test/attack/selection.ts";

/**
 * Tests that take minutes have a mode of their own: `npm run test:slow`. So have those of the
 * attacks that succeeded once: `npm run attack`.
 */
const included: Record<string, string[]> = {
  slow: ["test/**/*.slow.ts"],
  attack: filesOf(defects),
};

export default defineConfig(({ mode }) => ({
  test: {
    include: included[mode] ?? ["test/**/*.test.ts", "test/**/*.test.tsx"],
    ...(mode === "attack" && { testNamePattern: namePattern(defects) }),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
}));
