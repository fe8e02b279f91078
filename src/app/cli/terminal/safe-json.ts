/**
 * Formats JSON that is safe to print on a terminal. Control, bidirectional and other invisible
 * characters become \u escapes, so the value stays the same.
 */

// JSON.stringify escapes characters below U+0020; only its own line breaks remain.
const UNSAFE = /(?!\n)\p{Cc}|[\p{Zl}\p{Zp}\p{Cs}\p{Cf}]/gu;

export function safeJson(value: unknown, indent?: number): string {
  return safeText(JSON.stringify(value, null, indent) ?? "null");
}

/** Makes a JSON text safe to print, without a change of its value. */
export function safeText(json: string): string {
  return json.replace(UNSAFE, escapeCharacter);
}

/** A character outside the basic plane needs two escapes. */
function escapeCharacter(character: string): string {
  let escaped = "";
  for (let i = 0; i < character.length; i++) {
    escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`;
  }
  return escaped;
}
