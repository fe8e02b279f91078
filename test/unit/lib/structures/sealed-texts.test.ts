import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { SealedTexts } from "../../../../src/lib/crypto/sealed-texts.ts";

interface Note {
  readonly text: string;
  readonly expiresAt: number;
}

const key = randomBytes(32);

test("opens what it sealed, until it expires", () => {
  let now = 1000;
  const notes = new SealedTexts<Note>(key, "notes", () => now);
  const sealed = notes.seal({ text: "for ada", expiresAt: 2000 });
  expect(sealed).toMatch(/^[\w-]+$/);
  expect(Buffer.from(sealed, "base64url").toString("latin1")).not.toContain("ada");
  expect(notes.open(sealed)).toEqual({ text: "for ada", expiresAt: 2000 });
  now = 2000;
  expect(notes.open(sealed)).toBe("expired");
});

test("opens nothing else: other purposes, other keys, changes, any other text", () => {
  const notes = new SealedTexts<Note>(key, "notes");
  const value = { text: "for ada", expiresAt: Number.MAX_SAFE_INTEGER };
  const sealed = notes.seal(value);
  const changed = `${sealed.startsWith("A") ? "B" : "A"}${sealed.slice(1)}`;
  const foreign = [
    new SealedTexts<Note>(key, "links").seal(value),
    new SealedTexts<Note>(randomBytes(32), "notes").seal(value),
    changed,
    sealed.slice(0, -8),
    "",
    "x",
    "x".repeat(100_000),
  ];
  expect(foreign.map((text) => notes.open(text))).toEqual(foreign.map(() => undefined));
});
