/**
 * A server's text for a log line or an error reason: short, and on one line. A server must not be
 * able to forge a log line or fill the disk with one.
 */
import { toDisplayText } from "../../lib/json/json-text.ts";

const MAX_LENGTH = 200;
/** The length of a whole problem text, which quotes the server. */
export const MAX_PROBLEM_LENGTH = 500;
/**
 * Control characters, line and paragraph separators, and characters that change the text direction.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is meant
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** What lays a text out on several lines, and is a space on one. */
const LAYOUT = / *[\t\n\r][ \t\n\r]*/g;

export function logText(value: unknown, longest = MAX_LENGTH): string {
  const words = toDisplayText(value);
  const start = words.length <= longest ? words : `${words.slice(0, longest)}… (${words.length} characters)`;
  return start.replace(LAYOUT, " ").replace(UNSEEN, "\ufffd");
}
