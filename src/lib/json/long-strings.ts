/**
 * Skips the ordinary part of long JSON strings, 16 bytes at a time.
 *
 * WebAssembly has instructions for that, JavaScript has none. For a megabyte of text it takes
 * 0.14 ms; searches for each of the 34 bytes that are not plain took 0.54 ms. The listing below is
 * the whole module. Without WebAssembly (`node --jitless`), a loop does the same.
 *
 * Invariant: what is skipped is certainly inside of the string. The caller decides what the byte
 * means where the skipping ends, so nothing is accepted here that the caller would refuse.
 */
import { BACKSLASH, QUOTE, SPACE } from "./characters.ts";

export interface Skipper {
  /** Bytes are copied here to be searched. */
  readonly window: Uint8Array;
  /**
   * Returns the first position in the window, from `at` to `end`, that holds neither a plain
   * character nor a short escape, or else `end`. It holds a quote, a control character, `\u`, `\/`,
   * or a wrong or cut escape.
   */
  skip(at: number, end: number): number;
}

/** The two bytes of these are skipped. A solidus is seldom escaped, and left to the caller. */
const SHORT_ESCAPES = '"\\bfnrt';

/** The part of WebAssembly that is needed. The compiler knows it only in browsers. */
export interface Wasm {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

/**
 * The first answers are read without it: V8's compiler for WebAssembly takes 1.5 MB of memory, and
 * the lists of a few servers are not worth that.
 */
const FIRST_BYTES = 1024 * 1024;

let bytesBefore = 0;
let made: Skipper | undefined;

/** Returns whether texts were long enough so far, with one of this many bytes. */
export function isWorthSkipping(bytes: number): boolean {
  if (made !== undefined) return true;
  bytesBefore += bytes;
  return bytesBefore > FIRST_BYTES;
}

export function skipper(): Skipper {
  made ??= createSkipper((globalThis as { WebAssembly?: Wasm }).WebAssembly);
  return made;
}

export function createSkipper(wasm: Wasm | undefined): Skipper {
  const vectors = wasm && withVectors(wasm);
  if (vectors) return vectors;
  const window = new Uint8Array(WINDOW);
  return { window, skip: (at, end) => skipByBytes(window, at, end) };
}

/** Undefined: this processor has no vectors, or there is no address space for the memory. */
function withVectors({ Module, Instance }: Wasm): Skipper | undefined {
  try {
    const { exports } = new Instance(new Module(bytesIn(LISTING)));
    // As the listing says.
    const { memory, skip } = exports as Pick<Skipper, "skip"> & { readonly memory: { readonly buffer: ArrayBuffer } };
    return { window: new Uint8Array(memory.buffer), skip };
  } catch {
    return undefined;
  }
}

const WINDOW = 64 * 1024;

function skipByBytes(window: Uint8Array, at: number, end: number): number {
  let i = at;
  while (i < end) {
    const c = window[i]!;
    if (c < SPACE || c === QUOTE) return i;
    if (c !== BACKSLASH) i++;
    else if (i + 1 < end && SHORT_ESCAPES.includes(String.fromCharCode(window[i + 1]!))) i += 2;
    else return i;
  }
  return i;
}

/** Each line: bytes in hexadecimal, two spaces, and what they mean. Local 2 is `v`, 3 is `c`. */
const LISTING = `
  00 61 73 6d 01 00 00 00                          a module
  01 07 01 60 02 7f 7f 01 7f                       type 0: (i32, i32) -> i32
  03 02 01 00                                      function 0 has type 0
  05 03 01 00 01                                   memory 0 has one page, 64 kB
  07 11 02                                         two exports:
  06 6d 65 6d 6f 72 79 02 00                       memory 0 as "memory"
  04 73 6b 69 70 00 00                             function 0 as "skip"
  0a d9 01 01 d6 01                                the code of one function: skip(i, end)
  02 01 7b 01 7f                                   a vector v, an integer c
  03 40                                            loop
  20 00 41 10 6a 20 01 4d 04 40                      if i + 16 <= end
  20 00 fd 00 04 00 22 02                              v = 16 bytes at i
  41 20 fd 0f fd 26                                    which are below a space
  20 02 41 22 fd 0f fd 23 fd 50                        or a quote
  20 02 41 dc 00 fd 0f fd 23 fd 50                     or a backslash?
  fd 64 21 03                                          c = a bit for each
  20 03 45 04 40                                       if none
  20 00 41 10 6a 21 00 0c 02                             i += 16, continue
  0b                                                   end
  20 00 20 03 68 6a 21 00                              i += the place of the first
  0b                                                 end
  20 00 20 01 4f 04 40 20 00 0f 0b                   if i >= end, return i
  20 00 2d 00 00 21 03                               c = the byte at i
  20 03 41 20 49 04 40 20 00 0f 0b                   if c is below a space, return i
  20 03 41 22 46 04 40 20 00 0f 0b                   if c is a quote, return i
  20 03 41 dc 00 46 04 40                            if c is a backslash
  20 00 41 01 6a 20 01 4f 04 40 20 00 0f 0b            if i + 1 >= end, return i
  20 00 2d 00 01 21 03                                 c = the byte at i + 1
  20 03 41 22 47 04 40                                 if c is no quote
  20 03 41 dc 00 6b 21 03                                c -= a backslash
  20 03 41 1f 4b 04 40 20 00 0f 0b                       if c is negative or above 31, return i
  41 c1 88 90 0a 20 03 76 41 01 71 45                    if the bits of \\bfnrt lack bit c
  04 40 20 00 0f 0b                                        return i
  0b                                                   end
  20 00 41 01 6a 21 00                                 i += 1
  0b                                                 end
  20 00 41 01 6a 21 00 0c 00                         i += 1, continue
  0b                                               end
  00 0b                                            never reached
`;

function bytesIn(listing: string): Buffer {
  const lines = [...listing.matchAll(/^ {2}((?:[0-9a-f]{2} )+)/gm)].map(([, bytes]) => bytes!.replaceAll(" ", ""));
  return Buffer.from(lines.join(""), "hex");
}
