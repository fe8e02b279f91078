/**
 * The alphabet for comparing templates and URIs: one token per URI character or encoded octet.
 *
 * Invariants: spellings that RFC 3986 calls equivalent (`%7e`, `%7E`, `~`) have the same tokens. A
 * character that a URI may not contain has the tokens of its encoded form. Every function here
 * takes one pass.
 *
 * `OCTET + n` is the token of the percent-encoded octet n, unless n is an unreserved character.
 */
export const OCTET = 256;
const TOKEN_KINDS = 512;

const UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
const RESERVED = ":/?#[]@!$&'()*+,;=";
const PLAIN = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]*$/;
const PERCENT = 37;

const unreservedTable = tableOf(UNRESERVED);
const reservedTable = tableOf(RESERVED);
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const hexOf = Array.from({ length: 256 }, (_, octet) => `%${octet.toString(16).toUpperCase().padStart(2, "0")}`);

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(TOKEN_KINDS);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

/**
 * Builds a class of tokens: the unreserved ones or all of them, with characters added or removed.
 */
export function tokenClass(base: "unreserved" | "all", change: { add?: string; remove?: string }): Uint8Array {
  const table = new Uint8Array(TOKEN_KINDS);
  for (let token = 0; token < TOKEN_KINDS; token += 1) {
    table[token] = base === "all" || token >= OCTET || unreservedTable[token] === 1 ? 1 : 0;
  }
  for (const character of change.add ?? "") table[character.charCodeAt(0)] = 1;
  for (const character of change.remove ?? "") table[character.charCodeAt(0)] = 0;
  return table;
}

export function tokenize(text: string): Uint16Array {
  const tokens = new Uint16Array(text.length * 3);
  let size = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 128 && (unreservedTable[code] === 1 || reservedTable[code] === 1)) {
      tokens[size++] = code;
    } else if (code === PERCENT && octetAt(text, i) !== -1) {
      const octet = octetAt(text, i);
      tokens[size++] = octet < 128 && unreservedTable[octet] === 1 ? octet : OCTET + octet;
      i += 2;
    } else {
      const point = text.codePointAt(i) ?? code;
      for (const octet of utf8(point)) tokens[size++] = OCTET + octet;
      if (point > 0xffff) i += 1;
    }
  }
  return tokens.subarray(0, size);
}

/** Returns the canonical spelling, the same for all equivalents of a URI. */
export function canonicalUri(text: string): string {
  if (PLAIN.test(text)) return text;
  let canonical = "";
  for (const token of tokenize(text)) canonical += spell(token);
  return canonical;
}

function spell(token: number): string {
  return token < OCTET ? String.fromCharCode(token) : (hexOf[token - OCTET] ?? "");
}

/** Returns the octet of a `%XX` at this position, or -1. */
function octetAt(text: string, at: number): number {
  const high = hexDigit(text.charCodeAt(at + 1));
  const low = hexDigit(text.charCodeAt(at + 2));
  return high === -1 || low === -1 ? -1 : high * 16 + low;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/**
 * Encodes as UTF-8. Also encodes lone surrogates, which JSON allows and `encodeURIComponent`
 * rejects.
 */
function utf8(point: number): number[] {
  if (point < 0x80) return [point];
  if (point < 0x800) return [0xc0 | (point >> 6), 0x80 | (point & 63)];
  if (point < 0x10000) return [0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63)];
  return [0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63)];
}

/** Percent-encodes everything except unreserved characters. */
export function encodeUnreserved(text: string): string {
  return encode(text, false);
}

/**
 * Percent-encodes characters that a URI may not contain. Reserved characters and encoded octets
 * stay unchanged.
 */
export function encodeReserved(text: string): string {
  return PLAIN.test(text) ? text : encode(text, true);
}

function encode(text: string, keepReserved: boolean): string {
  let encoded = "";
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 128 && (unreservedTable[code] === 1 || (keepReserved && reservedTable[code] === 1))) {
      encoded += text[i];
    } else if (keepReserved && code === PERCENT && octetAt(text, i) !== -1) {
      encoded += text.slice(i, i + 3);
      i += 2;
    } else {
      const point = text.codePointAt(i) ?? code;
      for (const octet of utf8(point)) encoded += hexOf[octet];
      if (point > 0xffff) i += 1;
    }
  }
  return encoded;
}

/** Decodes octets as text. Octets that are not UTF-8 stay percent-encoded. */
function decodeOctets(octets: readonly number[]): string {
  try {
    return strictUtf8.decode(Uint8Array.from(octets));
  } catch {
    return octets.map((octet) => hexOf[octet]).join("");
  }
}

/** Returns whether a bare `%` here would read as the start of an encoded octet. */
function hexFollows(tokens: Uint16Array, at: number): boolean {
  return hexDigit(tokens[at + 1] ?? 0) !== -1 && hexDigit(tokens[at + 2] ?? 0) !== -1;
}

/**
 * Decodes tokens to text. With `keepReserved`, encoded reserved characters stay encoded, and `%25`
 * where it must. A reserved expansion of that text gives the same tokens again.
 */
export function decodeTokens(tokens: Uint16Array, keepReserved: boolean): string {
  let text = "";
  let octets: number[] = [];
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i] ?? 0;
    const octet = token - OCTET;
    if (octet >= 0 && !(keepReserved && (reservedTable[octet] === 1 || (octet === PERCENT && hexFollows(tokens, i))))) {
      octets.push(octet);
      continue;
    }
    if (octets.length > 0) text += decodeOctets(octets);
    octets = [];
    text += spell(token);
  }
  return octets.length > 0 ? text + decodeOctets(octets) : text;
}
