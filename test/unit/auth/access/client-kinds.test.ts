/** What is known about clients, and how the config changes it. */
import { expect, test } from "vitest";
import { clientKindOf } from "../../../../src/auth/access/client-kinds.ts";

test("known clients, by name without regard to case", () => {
  expect(clientKindOf("claude-code", {})).toEqual({ searchesTools: true });
  expect(clientKindOf("Cursor-VSCode", {})).toEqual({ maxTools: 40, maxNameLength: 53 });
  expect(clientKindOf("openai-mcp (ChatGPT)", {})).toMatchObject({ maxTools: 128 });
  expect(clientKindOf("somebody", {})).toBeUndefined();
  expect(clientKindOf("constructor", {})).toBeUndefined();
});

test("the config replaces single facts, an exact name before a pattern", () => {
  const configured = {
    "*": { expose: "search", pinned: [] },
    "cursor-vscode": { maxTools: 80, pinned: ["a_one"] },
  } as const;
  expect(clientKindOf("cursor-vscode", structuredClone(configured) as never)).toEqual({
    maxTools: 80,
    maxNameLength: 53,
    pinned: ["a_one"],
  });
  expect(clientKindOf("somebody", structuredClone(configured) as never)).toEqual({ expose: "search", pinned: [] });
});
