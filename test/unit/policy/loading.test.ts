/** Conditions load their parts when they need them, and refuse calls until then. */
import { expect, test, vi } from "vitest";
import { ANYONE } from "../../../src/mcp/protocol/principal.ts";
import { readExactly } from "../../../src/policy/conditions/exact-json.ts";
import { Budget } from "../../../src/policy/conditions/work.ts";

test("RE2 is loaded for the first condition that uses matches, and for no other", async () => {
  // Other test files may have loaded it in this process.
  vi.resetModules();
  const { Condition, conditionProblem, loadConditions } = await import("../../../src/policy/conditions/condition.ts");
  const { value: args, size, sizes } = readExactly('{"path":"/etc"}');
  const tool = { server: "db", name: "run" };
  const input = { args, size, sizes, tool, principal: ANYONE, budget: new Budget() };
  const plain = "args.path.startsWith('/etc')";
  await loadConditions(plain);
  expect(new Condition(plain).holds(input)).toBe(true);
  const wrong = "args.path.matches('(')";
  expect(conditionProblem(wrong)).toBeUndefined();

  const pattern = "args.path.matches('^/etc')";
  const condition = new Condition(pattern);
  expect(() => condition.holds(input)).toThrow("regular expressions are still being loaded");
  await loadConditions(pattern);
  expect(condition.holds(input)).toBe(true);
  expect(conditionProblem(wrong)).toContain("missing closing )");
});
