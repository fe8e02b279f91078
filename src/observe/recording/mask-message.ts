/**
 * Masks the secrets in a message before it is written: those that the gateway knows, and what is
 * named like a secret or looks like one.
 *
 * Most messages hold nothing of that kind: they cost one search and keep their exact bytes.
 */
export interface Masks {
  /** Masks the known secrets in JSON. */
  readonly json: (text: string) => string;
  /** Masks the known secrets in any text. */
  readonly text: (text: string) => string;
  /** Whether `value` may change something in this JSON. */
  readonly suspects: (json: string) => boolean;
  /** Masks what is named like a secret, or looks like one, in a parsed value. */
  readonly value: (value: unknown) => unknown;
}

export interface MaskedMessage {
  readonly text: string;
  readonly isJson: boolean;
  readonly isMasked: boolean;
}

/** `isChecked`: the text is certainly JSON. */
export function maskMessage(text: string, isChecked: boolean, masks: Masks): MaskedMessage {
  const isSuspect = masks.suspects(text);
  if (!isSuspect && isChecked) return compared(masks.json(text), text);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Nothing in it has a name, so it is taken for a text: what looks like a secret hides it all.
    const shown = masks.text(String(masks.value(text)));
    return { text: shown, isJson: false, isMasked: shown !== text };
  }
  if (!isSuspect) return compared(masks.json(text), text);
  const usual = JSON.stringify(parsed);
  const safe = masks.json(JSON.stringify(masks.value(parsed)));
  if (safe !== usual) return { text: safe, isJson: true, isMasked: true };
  // Of a member that comes twice, only the last one was looked at.
  const isWhole = usual === text || membersOf(parsed) === text.replace(/"(?:[^"\\]|\\.)*"/g, "").split(":").length - 1;
  return { text: isWhole ? text : usual, isJson: true, isMasked: !isWhole };
}

function compared(safe: string, text: string): MaskedMessage {
  return { text: safe, isJson: true, isMasked: safe !== text };
}

function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const inner of Object.values(value)) count += membersOf(inner);
  return count;
}
