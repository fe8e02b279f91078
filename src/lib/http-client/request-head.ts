/**
 * Builds the head of an HTTP/1.1 request as text. A header must never be able to change the framing
 * of the request.
 */
import { framingHeaders, HEADER_NAME, HEADER_VALUE } from "../text/header-rules.ts";

export interface HttpHead {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function headText({ method, path, headers }: HttpHead, host: string): string {
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${headerValue("host", host)}\r\nconnection: keep-alive\r\n`;
  for (const name in headers) head += `${headerName(name)}: ${headerValue(name, headers[name]!)}\r\n`;
  return head;
}

function headerName(name: string): string {
  if (name === "host" || framingHeaders.has(name)) throw new TypeError(`The header "${name}" is the gateway's own`);
  if (!HEADER_NAME.test(name)) throw new TypeError(`${JSON.stringify(name)} cannot be the name of a header`);
  return name;
}

function headerValue(name: string, value: string): string {
  if (HEADER_VALUE.test(value)) return value;
  throw new TypeError(`The header "${name}" has a character that headers cannot have`);
}

/** Names of headers are compared in lower case. */
export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
