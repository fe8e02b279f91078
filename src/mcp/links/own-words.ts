/**
 * What an HTTP server itself says about its refusal: the message in a JSON body, or a short plain
 * text. It is untrusted: short, on one line, and without our secrets, which a server may echo.
 */

import { isRecord } from "../../lib/structures/record.ts";
import { logText } from "../protocol/log-text.ts";

export interface Said {
  readonly text: string;
  readonly contentType: string;
}

export function ownWords({ text, contentType }: Said, redact: (text: string) => string): string | undefined {
  const words = (isJson(contentType) ? messageIn(text) : isPlain(contentType) ? text : undefined)?.trim();
  return words === undefined || words === "" ? undefined : logText(redact(words.replace(/\s+/g, " ")));
}

/** The type without its parameters: `text/html`. */
export function mediaType(contentType: string): string {
  return logText(contentType.split(";")[0]!.trim().toLowerCase());
}

function isJson(contentType: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType);
}

function isPlain(contentType: string): boolean {
  return contentType === "" || /^text\/plain\b/i.test(contentType);
}

function messageIn(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value === "string") return value;
  if (!isRecord(value)) return undefined;
  const { error, error_description: description, message, detail } = value;
  const inner = isRecord(error) ? error["message"] : error;
  return [description, inner, message, detail].find((words): words is string => typeof words === "string");
}
