/** Conditions load their parts when they need them, and refuse calls until then. */
import { expect, test, vi } from "vitest";
import { ANYONE } from "../../../src/mcp/protocol/principal.ts";
import { Condition, conditionProblem, loadConditions } from "../../../src/policy/conditions/condition.ts";
import { readExactly } from "../../../src/policy/conditions/exact-json.ts";
import { Budget } from "../../../src/policy/conditions/work.ts";

const loaded = vi.hoisted(() => ({ re2: false }));
vi.mock("re2js", async (original) => {
  loaded.re2 = true;
  return original();
});

test("RE2 is loaded for the first condition that uses matches, and for no other", async () => {
  const { value: args, size, sizes } = readExactly('{"path":"/etc"}');
  const tool = { server: "db", name: "run" };
  const input = { args, size, sizes, tool, principal: ANYONE, budget: new Budget() };
  const plain = "args.path.startsWith('/etc')";
  await loadConditions(plain);
  expect(new Condition(plain).holds(input)).toBe(true);
  expect(conditionProblem("args.path.matches('(')")).toBeUndefined();
  expect(loaded.re2).toBe(false);

  const pattern = "args.path.matches('^/etc')";
  const condition = new Condition(pattern);
  expect(() => condition.holds(input)).toThrow("regular expressions are still being loaded");
  await loadConditions(pattern);
  expect(loaded.re2).toBe(true);
  expect(condition.holds(input)).toBe(true);
  expect(conditionProblem("args.path.matches('(')")).toContain("missing closing )");
});
