/** Texts as lines, each with its own end. */

/** Returns the number of the line at an offset, from 1. */
export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Returns the line end that the text uses. */
export function lineEndOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** Returns the lines with their ends. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Returns the text with a line end after its last line. */
export function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : text + lineEndOf(text);
}
