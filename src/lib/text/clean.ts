/**
 * Makes text from a server safe to print on a terminal.
 *
 * Descriptions, log lines and errors are untrusted. An escape sequence could move the cursor,
 * rename the window or write to the clipboard. A bidirectional override could disguise a name.
 *
 * Invariant: `clean` returns printable characters only.
 */

// Controls, lone surrogates, line separators, and invisible format characters except the two
// joiners.
const unsafe = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;
// What nobody sees, or what changes the order in which other characters are shown.
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{Cn}\u00a0\u115f\u1160\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\p{VS}\p{DI}\uffa0\u{1d159}]/gu;
const plain = /^[\u0020-\u007e]*$/;

/**
 * Returns one line. Control characters become visible symbols; line breaks and tabs become spaces.
 */
export function clean(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(/\r\n|[\n\r\t]/g, " ").replace(unsafe, picture);
}

/** Returns several lines, each of them clean. */
export function cleanLines(text: string): string[] {
  return text.split(/\r\n|\n|\r|\u2028|\u2029/).map((line) => clean(line.replaceAll("\t", "  ")));
}

/**
 * Drops control characters instead of showing them: for typed or pasted input, and for the
 * clipboard.
 */
export function strip(text: string): string {
  return text.replace(unsafe, "");
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

/**
 * Returns JSON in which every hidden character is an escape: the same JSON, for people who decide
 * by it. There must be no line breaks outside of strings.
 */
export function visibleJson(json: string): string {
  return json.replace(HIDDEN, (character) =>
    [...Array(character.length).keys()]
      .map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
