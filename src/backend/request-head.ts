/** What a request to an HTTP server begins with, as text. */
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

/** Where a request ends and what becomes of its connection is said here alone. */
const OWN_HEADERS = new Set(
  "connection content-length expect host keep-alive te trailer transfer-encoding upgrade".split(" "),
);

function headerName(name: string): string {
  if (OWN_HEADERS.has(name)) throw new TypeError(`The header "${name}" is the gateway's own`);
  if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(name)) {
    throw new TypeError(`${JSON.stringify(name)} cannot be the name of a header`);
  }
  return name;
}

function headerValue(name: string, value: string): string {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) {
    throw new TypeError(`The header "${name}" has a character that headers cannot have`);
  }
  return value;
}
