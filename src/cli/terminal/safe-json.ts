/**
 * JSON that a terminal only shows. Controls, bidirectional overrides and other invisible characters
 * are written as \u escapes, so the text is harmless and its value is the same.
 */

// JSON.stringify itself escapes what is below U+0020, but for the line breaks that it indents with.
const UNSAFE = /(?!\n)\p{Cc}|[\p{Zl}\p{Zp}\p{Cs}\p{Cf}]/gu;

export function safeJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? "null").replace(UNSAFE, escapeCharacter);
}

/** A character outside of the basic plane is two escapes. */
function escapeCharacter(character: string): string {
  let escaped = "";
  for (let i = 0; i < character.length; i++) {
    escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
  }
  return escaped;
}
