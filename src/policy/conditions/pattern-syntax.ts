/**
 * Reads a regular expression of RE2's syntax: characters, classes, groups, alternatives, counts,
 * anchors, word boundaries, and the flags i, s and m.
 *
 * Invariant: what is not supported is an error, so that no pattern means something else here.
 */
type CodeTest = (code: number) => boolean;

export type Node =
  | { readonly kind: "char"; readonly test: CodeTest }
  | { readonly kind: "assert"; readonly test: (before: number, after: number) => boolean }
  | { readonly kind: "sequence"; readonly parts: readonly Node[] }
  | { readonly kind: "either"; readonly options: readonly Node[] }
  | { readonly kind: "repeat"; readonly part: Node; readonly least: number; readonly most: number };

interface Flags {
  readonly i: boolean;
  readonly s: boolean;
  readonly m: boolean;
}

const MAX_DEPTH = 50;
const MAX_COUNT = 1000;
const NEWLINE = 10;
const CONTROL: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, f: 12, v: 11, a: 7 };

const isDigit: CodeTest = (code) => code >= 48 && code <= 57;
const isWord: CodeTest = (code) =>
  isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
const isSpace: CodeTest = (code) => code === 32 || (code >= 9 && code <= 13 && code !== 11);
const not =
  (test: CodeTest): CodeTest =>
  (code) =>
    !test(code);
const CLASSES: Readonly<Record<string, CodeTest>> = {
  d: isDigit,
  w: isWord,
  s: isSpace,
  D: not(isDigit),
  W: not(isWord),
  S: not(isSpace),
};

/** @throws Error that says what is wrong, and where */
export function parsePattern(source: string): Node {
  return new PatternReader(source).read();
}

class PatternReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Node {
    const node = this.#either({ i: false, s: false, m: false }, 0);
    if (this.#at < this.#source.length) throw this.#wrong('")" closes nothing');
    return node;
  }

  #either(given: Flags, depth: number): Node {
    if (depth > MAX_DEPTH) throw this.#wrong("too many groups inside of each other");
    let flags = given;
    const options: Node[] = [];
    let parts: Node[] = [];
    for (;;) {
      const character = this.#peek();
      if (character === "" || character === ")") break;
      if (character === "|") {
        this.#at++;
        options.push({ kind: "sequence", parts });
        parts = [];
        continue;
      }
      const changed = this.#flagsAhead(flags);
      if (changed) {
        flags = changed;
        continue;
      }
      parts.push(this.#counted(this.#atom(flags, depth)));
    }
    options.push({ kind: "sequence", parts });
    return options.length === 1 ? options[0]! : { kind: "either", options };
  }

  /** Flags for the rest of the group: `(?i)`. */
  #flagsAhead(flags: Flags): Flags | undefined {
    const match = /^\(\?([ism]*)(?:-([ism]+))?\)/.exec(this.#source.slice(this.#at, this.#at + 20));
    if (!match || match[0] === "(?)") return undefined;
    this.#at += match[0].length;
    return withFlags(flags, match[1] ?? "", match[2] ?? "");
  }

  #atom(flags: Flags, depth: number): Node {
    const character = this.#take();
    switch (character) {
      case "(":
        return this.#group(flags, depth);
      case "[":
        return { kind: "char", test: this.#class(flags) };
      case ".":
        return { kind: "char", test: flags.s ? () => true : (code) => code !== NEWLINE };
      case "^":
        return { kind: "assert", test: (before) => before === -1 || (flags.m && before === NEWLINE) };
      case "$":
        return { kind: "assert", test: (_before, after) => after === -1 || (flags.m && after === NEWLINE) };
      case "*":
      case "+":
      case "?":
        throw this.#wrong(`"${character}" repeats nothing`);
      case "\\":
        return this.#escape(flags);
      default:
        return { kind: "char", test: exactly(character.codePointAt(0)!, flags) };
    }
  }

  #group(flags: Flags, depth: number): Node {
    const head = /^\?(?:P?<\w+>|([ism]*)(?:-([ism]+))?:)/.exec(this.#source.slice(this.#at, this.#at + 80));
    if (!head && this.#peek() === "?") throw this.#wrong("this kind of group is not supported");
    this.#at += head?.[0].length ?? 0;
    const node = this.#either(withFlags(flags, head?.[1] ?? "", head?.[2] ?? ""), depth + 1);
    if (this.#take() !== ")") throw this.#wrong('a group has no ")"');
    return node;
  }

  #escape(flags: Flags): Node {
    const character = this.#take();
    const test = CLASSES[character];
    if (test) return { kind: "char", test };
    const isBoundary = (before: number, after: number) => isWord(before) !== isWord(after);
    switch (character) {
      case "b":
        return { kind: "assert", test: isBoundary };
      case "B":
        return { kind: "assert", test: (before, after) => !isBoundary(before, after) };
      case "A":
        return { kind: "assert", test: (before) => before === -1 };
      case "z":
        return { kind: "assert", test: (_before, after) => after === -1 };
      default:
        return { kind: "char", test: exactly(this.#escaped(character), flags) };
    }
  }

  /** The character that an escape stands for. */
  #escaped(character: string): number {
    const control = CONTROL[character];
    if (control !== undefined) return control;
    if (character === "x") {
      const hex = /^(?:([0-9a-f]{2})|\{([0-9a-f]{1,6})\})/i.exec(this.#source.slice(this.#at, this.#at + 8));
      if (!hex) throw this.#wrong('"\\x" needs two hex digits, or more in braces');
      this.#at += hex[0].length;
      return Number.parseInt(hex[1] ?? hex[2]!, 16);
    }
    if (character === "" || /[0-9A-Za-z]/.test(character)) throw this.#wrong(`"\\${character}" is not supported`);
    return character.codePointAt(0)!;
  }

  #class(flags: Flags): CodeTest {
    const isNegated = this.#peek() === "^";
    if (isNegated) this.#at++;
    const tests: CodeTest[] = [];
    for (let isFirst = true; isFirst || this.#peek() !== "]"; isFirst = false) {
      const from = this.#classItem();
      if (typeof from === "function") {
        tests.push(from);
        continue;
      }
      const isRange = this.#peek() === "-" && !["]", ""].includes(this.#source[this.#at + 1] ?? "");
      if (!isRange) {
        tests.push(exactly(from, flags));
        continue;
      }
      this.#at++;
      const to = this.#classItem();
      if (typeof to === "function" || to < from)
        throw this.#wrong("a range in a class has no end, or ends before it begins");
      tests.push(between(from, to, flags));
    }
    this.#at++;
    const isOne: CodeTest = (code) => tests.some((test) => test(code));
    return isNegated ? not(isOne) : isOne;
  }

  #classItem(): number | CodeTest {
    const character = this.#take();
    if (character === "") throw this.#wrong('a class has no "]"');
    if (character === "[" && this.#peek() === ":") throw this.#wrong("classes by name are not supported");
    if (character !== "\\") return character.codePointAt(0)!;
    const escaped = this.#take();
    return CLASSES[escaped] ?? this.#escaped(escaped);
  }

  #counted(part: Node): Node {
    let node = part;
    for (;;) {
      const match = /^(?:([*+?])|\{(\d{1,4})(?:(,)(\d{1,4})?)?\})\??/.exec(this.#source.slice(this.#at, this.#at + 16));
      if (!match) return node;
      this.#at += match[0].length;
      const least = match[1] ? Number(match[1] === "+") : Number(match[2]);
      const unbounded = match[1] ? match[1] !== "?" : match[3] !== undefined && match[4] === undefined;
      const most = unbounded ? Number.POSITIVE_INFINITY : match[1] ? 1 : Number(match[4] ?? match[2]);
      if (least > MAX_COUNT || most < least || (!unbounded && most > MAX_COUNT)) throw this.#wrong("a count is wrong");
      node = { kind: "repeat", part: node, least, most };
    }
  }

  #peek(): string {
    const code = this.#source.codePointAt(this.#at);
    return code === undefined ? "" : String.fromCodePoint(code);
  }

  #take(): string {
    const character = this.#peek();
    this.#at += character.length;
    return character;
  }

  #wrong(what: string): Error {
    return new Error(`the pattern of matches() is wrong: ${what} (at its character ${this.#at + 1})`);
  }
}

function withFlags(flags: Flags, on: string, off: string): Flags {
  const has = (flag: keyof Flags) => !off.includes(flag) && (flags[flag] || on.includes(flag));
  return { i: has("i"), s: has("s"), m: has("m") };
}

function exactly(wanted: number, { i }: Flags): CodeTest {
  if (!i) return (code) => code === wanted;
  const forms = casesOf(wanted);
  return tabled((code) => code === wanted || forms.some((form) => casesOf(code).includes(form)));
}

function between(from: number, to: number, { i }: Flags): CodeTest {
  const isIn: CodeTest = (code) => code >= from && code <= to;
  return i ? tabled((code) => isIn(code) || casesOf(code).some(isIn)) : isIn;
}

/** Texts of clients are tested one character at a time, most of them ASCII. */
function tabled(test: CodeTest): CodeTest {
  const ascii = Array.from({ length: 128 }, (_, code) => test(code));
  return (code) => (code < 128 ? ascii[code]! : test(code));
}

/** No character from here on has a lower or upper case. */
const CASELESS_FROM = 0x20000;
const knownCases: (readonly number[] | undefined)[] = [];

/** The lower and upper case of a character. */
function casesOf(code: number): readonly number[] {
  if (code >= CASELESS_FROM) return [code];
  let cases = knownCases[code];
  if (!cases) {
    const character = String.fromCodePoint(code);
    const forms = [character.toLowerCase(), character.toUpperCase(), character.toUpperCase().toLowerCase()];
    cases = forms.flatMap((form) =>
      form.length === String.fromCodePoint(form.codePointAt(0)!).length ? [form.codePointAt(0)!] : [],
    );
    knownCases[code] = cases;
  }
  return cases;
}
