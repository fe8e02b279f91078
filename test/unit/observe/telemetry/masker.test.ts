import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Masker } from "../../../../src/observe/telemetry/masker.ts";
import { runs } from "../../../fixtures/thorough.ts";

/** One of the ways in which JSON may spell a character. */
function spelling(character: string, choice: number): string {
  const code = character.charCodeAt(0).toString(16).padStart(4, "0");
  const short = JSON.stringify(character).slice(1, -1);
  const forms = [short, `\\u${code}`, `\\u${code.toUpperCase()}`, character === "/" ? "\\/" : short];
  return forms[choice % forms.length]!;
}

const spelled = (text: string, choices: readonly number[]): string =>
  `"${text
    .split("")
    .map((character, i) => spelling(character, choices[i % choices.length]!))
    .join("")}"`;

/** A secret within a text, and that text in JSON, in JSON in a string, and so on. */
function nested(text: string, layers: readonly (readonly number[])[]): string {
  return layers.reduce((inner, choices) => `{"k":${spelled(inner, choices)}}`, text);
}

function unpacked(json: string, depth: number): string {
  return depth === 0 ? json : unpacked((JSON.parse(json) as { k: string }).k, depth - 1);
}

describe("a masker (A-M2)", () => {
  test("hides a secret however JSON spells it, down to JSON in a string in JSON in a string", () => {
    const choices = fc.array(fc.nat(3), { minLength: 1, maxLength: 12 });
    const secret = fc.string({
      minLength: 6,
      maxLength: 40,
      unit: fc.oneof(fc.constantFrom(..."+/\\\"'&<>\n"), fc.string({ minLength: 1, maxLength: 1 })),
    });
    fc.assert(
      fc.property(secret, fc.array(choices, { maxLength: 4 }), (value, layers) => {
        fc.pre(!'{"k":"key [hidden]!"}'.includes(value) && value.trim().length > 3);
        const masker = new Masker();
        masker.hide([value]);
        const text = nested(`key ${value}!`, layers);
        const masked = layers.length === 0 ? masker.text(text) : masker.json(text);
        expect(unpacked(masked, layers.length)).not.toContain(value);
        expect(masker.text(text)).not.toBe(text);
        const line = JSON.stringify({ msg: text });
        expect(unpacked((JSON.parse(masker.jsonLine(line)) as { msg: string }).msg, layers.length)).not.toContain(
          value,
        );
      }),
      { numRuns: runs(500, 20_000) },
    );
  });

  test.each([
    ["a plain text", "the key ab+cd/ef fails", "the key [hidden] fails"],
    ["JSON of .NET", String.raw`{"e":"ab\u002Bcd/ef"}`, '{"e":"[hidden]"}'],
    ["JSON of PHP", String.raw`{"e":"ab+cd\/ef"}`, '{"e":"[hidden]"}'],
    ["JSON in a string", String.raw`{"e":"{\"x\":\"ab\\u002Bcd\\/ef\"}"}`, String.raw`{"e":"{\"x\":\"[hidden]\"}"}`],
    ["every letter as an escape", String.raw`"\u0061\u0062\u002b\u0063\u0064\u002f\u0065\u0066"`, '"[hidden]"'],
  ])("hides it in %s", (_what, text, masked) => {
    const masker = new Masker();
    masker.hide(["ab+cd/ef"]);
    expect(text.startsWith("the") ? masker.text(text) : masker.json(text)).toBe(masked);
    expect(masker.text(`log: ${text}`)).toBe(`log: ${masked}`);
  });

  test("leaves other texts as they are, byte by byte", () => {
    const masker = new Masker();
    masker.hide(["ab+cd/ef"]);
    const text = String.raw`{"e":"\u0061b\/\n\\u002B C:\\temp","n":12345678901234567890}`;
    expect(masker.json(text)).toBe(text);
    expect(masker.text(text)).toBe(text);
  });

  test("hides overlapping secrets as one, and looks no deeper than a reader would", () => {
    const masker = new Masker();
    masker.hide(["abcdef", "defghi"]);
    expect(masker.text("abcdefghi, abcdefabcdef")).toBe("[hidden], [hidden][hidden]");
    const deep = `\\u005c${"u005c".repeat(10_000)}`;
    expect(masker.text(deep)).toBe(deep);
  });
});
