/**
 * What a header of a request may be, for those who read it in a config and those who write it to a
 * socket.
 */

export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * They say where a request ends and what becomes of its connection: whoever writes the request sets
 * them, and nobody else. In lower case.
 */
export const framingHeaders: ReadonlySet<string> = new Set(
  "connection content-length expect keep-alive te trailer transfer-encoding upgrade".split(" "),
);
