/** Characters that hide or imitate something: what people do not see, and models read. */
import type { Finding } from "../drift.ts";

type Found = Pick<Finding, "rule" | "isHard" | "what">;

/** A flag of a region: a black flag, then letters of the tag block. */
const FLAGS = /\u{1F3F4}[\u{E0020}-\u{E007E}]{2,6}\u{E007F}/gu;
const TAGS = /[\u{E0000}-\u{E007F}]+/u;
/** Selectors in a row, or behind a letter or a space, select nothing: they carry hidden bytes. */
const SELECTORS = /(?:[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]|[A-Za-z ])[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/u;
/** They turn the direction of what follows, so that it reads otherwise than it is. */
const OVERRIDES = /[\u202D\u202E]/u;
const FILLERS = /[\u115F\u1160\u17B4\u17B5\u3164\uFFA0\u180E\u{1D159}]/u;
const ESCAPES = new RegExp(`${String.fromCharCode(27)}[[\\]P^_]`);
/** A message in zero-width characters is a run of them. Emoji join with single ones. */
const ZERO_WIDTH_RUN =
  /[\u034F\u00AD\u061C\u200B-\u200F\u2060-\u2064\u206A-\u206F\uFEFF\uFFF9-\uFFFB\u{1D173}-\u{1D17A}]{4,}/u;
const ZERO_WIDTH =
  /[\u034F\u00AD\u061C\u200B\u200E\u200F\u2060-\u2064\u206A-\u206F\u2800\uFFF9-\uFFFB\u{1D173}-\u{1D17A}]|(?!^)\uFEFF/u;
const DIRECTIONS = /[\u202A-\u202C\u2066-\u2069]/u;
const NOT_ASCII = /[^\u0020-\u007E\n\r\t]/;

export function hiddenCharacters(text: string): Found[] {
  if (!NOT_ASCII.test(text)) return [];
  const rest = text.replace(FLAGS, "");
  const tags = TAGS.exec(rest)?.[0];
  const found = (what: string, isHard = true): Found[] => [{ rule: "hidden-unicode", isHard, what }];
  if (tags !== undefined) return found(`text in invisible tag characters: ${JSON.stringify(untagged(tags))}`);
  if (SELECTORS.test(rest)) return found("bytes in invisible variation selectors");
  if (OVERRIDES.test(rest)) return found("characters that turn the direction of the text");
  if (ZERO_WIDTH_RUN.test(rest)) return found("a run of zero-width characters");
  if (FILLERS.test(rest)) return found("letters without a shape");
  if (ESCAPES.test(rest)) return found("control sequences of a terminal");
  const invisible = ZERO_WIDTH.exec(rest) ?? DIRECTIONS.exec(rest);
  return invisible ? found(`an invisible character (${codeOf(invisible[0])})`, false) : [];
}

/** What the tag characters say, cut. */
function untagged(tags: string): string {
  const plain = [...tags].map((tag) => String.fromCodePoint(tag.codePointAt(0)! - 0xe0000)).join("");
  return plain.replace(/[^\x20-\x7E]/g, "").slice(0, 60);
}

function codeOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Letters of other scripts, and the Latin ones that they look like. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map([
  ...pairs("аеорсухіјѕһԁԛԝкмтвнАВЕКМНОРСТУХІЈЅ", "aeopcyxijshdqwkmtbhABEKMHOPCTYXIJS"),
  ...pairs("αορνικτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aopviktuxABEZHIKMNOPTYX"),
  ...pairs("ıɡɩӏ", "igil"),
]);

function pairs(others: string, latin: string): [string, string][] {
  const letters = [...latin];
  return [...others].map((other, i) => [other, letters[i]!]);
}

const FOREIGN = /[\p{Script=Cyrillic}\p{Script=Greek}ıɡɩ]/u;
const LATIN = /[A-Za-z]/;
const STYLED = /[\u{1D400}-\u{1D7FF}\uFF21-\uFF3A\uFF41-\uFF5A]/u;

/** What a name looks like: letters of other scripts as the Latin ones. */
export function skeletonOf(name: string): string {
  if (!NOT_ASCII.test(name)) return name.toLowerCase();
  const letters = [...name.normalize("NFKC")].map((letter) => LOOKALIKES.get(letter) ?? letter);
  return letters.join("").toLowerCase();
}

/** In names, a letter that looks like another is no accident; in texts it may be. */
export function imitatedLetters(text: string, isName: boolean): Found[] {
  if (!NOT_ASCII.test(text)) return [];
  if (isName && STYLED.test(text)) return [{ rule: "homoglyph", isHard: true, what: "letters in another style" }];
  for (const word of text.split(/[^\p{L}\p{M}]+/u)) {
    if (!LATIN.test(word) || !FOREIGN.test(word)) continue;
    const isWhole = [...word].every((letter) => LATIN.test(letter) || LOOKALIKES.has(letter));
    if (isWhole) {
      const what = `${JSON.stringify(word.slice(0, 40))} looks like ${JSON.stringify(skeletonOf(word).slice(0, 40))}`;
      return [{ rule: "homoglyph", isHard: isName, what }];
    }
  }
  return [];
}
