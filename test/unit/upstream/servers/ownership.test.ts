import { expect, test } from "vitest";
import { Ownership } from "../../../../src/upstream/servers/connections/ownership.ts";

test("a question that MCP knows makes the server tell its clients apart", () => {
  const ownership = new Ownership("auto");
  ownership.asked("sampling/createMessage");
  expect(ownership.isPossible).toBe(true);
  expect(ownership.isKnownNeed).toBe(true);
});

test("a method that no client can be asked changes nothing", () => {
  const ownership = new Ownership("auto");
  for (let i = 0; i < 1000; i++) ownership.asked(`made/up-${i}`);
  expect(ownership.isPossible).toBe(false);
  expect(ownership.isKnownNeed).toBe(false);
});
