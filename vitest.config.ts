import { defineConfig } from "vitest/config";

/** Tests that take minutes have a mode of their own: `npm run test:slow`. */
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === "slow" ? ["test/**/*.slow.ts"] : ["test/**/*.test.ts", "test/**/*.test.tsx"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
}));
