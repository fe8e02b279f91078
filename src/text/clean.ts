/**
 * Makes text from a backend harmless before it reaches the terminal.
 *
 * A tool's description, a log line or an error is written by somebody else: an escape sequence in
 * it could move the cursor, rename the window or write to the clipboard, and a bidirectional
 * override could make a name read as another one. What must always hold: nothing that `clean`
 * returns is anything but printable characters.
 */

// Controls, lone surrogates, line separators, and every invisible format character but the two
// joiners.
const unsafe = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;
const plain = /^[\u0020-\u007e]*$/;

/** One line: control characters become visible pictures, line breaks and tabs a space. */
export function clean(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(/\r\n|[\n\r\t]/g, " ").replace(unsafe, picture);
}

/** Several lines, each of them clean. */
export function cleanLines(text: string): string[] {
  return text.split(/\r\n|\n|\r|\u2028|\u2029/).map((line) => clean(line.replaceAll("\t", "  ")));
}

/**
 * What a person typed or pasted, or what goes to the clipboard: control characters are dropped, not
 * shown.
 */
export function strip(text: string): string {
  return text.replace(unsafe, "");
}

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}
