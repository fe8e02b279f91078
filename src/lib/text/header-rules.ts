/**
 * The rules for request headers, shared by the config reader and the HTTP client.
 */

export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Headers that control a request's length and its connection, in lower case. Only the HTTP client
 * may set them.
 */
export const framingHeaders: ReadonlySet<string> = new Set(
  "connection content-length expect keep-alive te trailer transfer-encoding upgrade".split(" "),
);
