/** Keys and tokens in JSON: what is found, what is not, and that nothing hides them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maskInSlices } from "../../../../src/core/masking/mask-json.ts";
import { type MaskCounts, SecretFinder } from "../../../../src/core/masking/secret-finder.ts";
import { finish } from "../../../../src/lib/timing/slices.ts";

/** Written in parts, so that no scanner takes this file for a leak. */
const of = (...parts: string[]): string => parts.join("");
const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789";
const secrets: [format: string, text: string][] = [
  ["aws-access-key", of("AK", "IA", upper.slice(0, 16))],
  ["github-token", of("gh", "p_", word.slice(0, 36))],
  ["github-token", of("github", "_pat_", word)],
  ["gitlab-token", of("gl", "pat-", word.slice(0, 20))],
  ["slack-token", of("xo", "xb-123456789012-", word.slice(0, 24))],
  ["slack-webhook", of("hooks.slack", ".com/services/T12345678/B12345678/", word.slice(0, 24))],
  ["anthropic-key", of("sk-", "ant-api03-", word)],
  ["openai-key", of("sk-", "proj-", word)],
  ["openai-key", of("sk-", word.slice(0, 20), "T3Blbk", "FJ", word.slice(0, 20))],
  ["stripe-key", of("sk_", "live_", word.slice(0, 24))],
  ["google-key", of("AI", "za", word.slice(0, 35))],
  ["npm-token", of("npm", "_", word.slice(0, 36))],
  ["pypi-token", of("pypi-", "AgEIcHlwaS", word, word)],
  ["huggingface-token", of("hf", "_", word.slice(0, 34))],
  ["sendgrid-key", of("SG", ".", word.slice(0, 22), ".", word.slice(0, 43))],
  ["goblin-token", of("goblin", "_", word.slice(0, 32))],
  ["jwt", of("ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxMjM0NTY3ODkwIn0.", word)],
  ["private-key", of("-----BEGIN RSA ", "PRIVATE KEY-----\nMIIE-x\n", word, "\n-----END RSA ", "PRIVATE KEY-----")],
];
const own = 'hunter2/"é';
const finder = new SecretFinder([own, "short", "hunter2"]);

function masked(json: string, by = finder): { text: string; counts: Record<string, number> } {
  const counts: MaskCounts = new Map();
  const bytes = finish(maskInSlices(Buffer.from(json), by, counts));
  return { text: bytes?.toString() ?? json, counts: Object.fromEntries(counts) };
}

/** Every character as an escape. */
const escaped = (text: string): string =>
  `"${text
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")}"`;

describe.each(secrets)("%s", (format, secret) => {
  test("is masked alone, in a sentence, as a key, and with nothing else changed", () => {
    const { text, counts } = masked(
      `{"n":12345678901234567890, "a" : ${JSON.stringify(secret)},"b":["x ${JSON.stringify(secret).slice(1, -1)}, y"],${JSON.stringify(secret)}:1e400}`,
    );
    const mask = `[masked ${format}]`;
    expect(text).toBe(`{"n":12345678901234567890, "a" : "${mask}","b":["x ${mask}, y"],"${mask}":1e400}`);
    expect(counts).toEqual({ [format]: 3 });
  });

  test("is not hidden by escapes, nor by JSON in a text, nor by both", () => {
    const mask = `[masked ${format}]`;
    expect(masked(`[${escaped(secret)}]`).text).toBe(`["${mask}"]`);
    for (const inner of [JSON.stringify({ a: secret }), `{"a":${escaped(secret)}}`]) {
      const twice = JSON.stringify(JSON.stringify({ text: inner }));
      for (const outer of [JSON.stringify({ text: inner }), `{"text":${escaped(inner)}}`, `{"text":${twice}}`]) {
        expect(masked(outer).text).toContain(mask);
        expect(masked(outer).text).not.toContain(secret.slice(0, 30));
        expect(() => JSON.parse(masked(outer).text)).not.toThrow();
      }
    }
  });

  test("is not hidden in JSON behind a word, nor in lines of JSON (A-L11)", () => {
    const mask = `[masked ${format}]`;
    const line = `{"a":${escaped(secret)}}`;
    const texts = [`Result: ${line}`, `5" of ${line}`, `{"ok":true}\n${line}\n${line}`, `x ${JSON.stringify(line)} y`];
    for (const text of texts) {
      const shown = (JSON.parse(masked(JSON.stringify({ text })).text) as { text: string }).text;
      expect(shown).toContain(mask);
      expect(shown).not.toContain(escaped(secret).slice(1, 60));
      expect(shown.startsWith(text.slice(0, 6))).toBe(true);
    }
    const inLine = JSON.stringify({ text: JSON.stringify({ env: `A=1\n${secret}` }) });
    expect(masked(inLine).text).toContain(mask);
  });

  test("is left alone if the config says so", () => {
    const json = JSON.stringify([secret]);
    const except = [format] as ConstructorParameters<typeof SecretFinder>[1];
    expect(masked(json, new SecretFinder([], except)).text).toBe(json);
  });

  test("is found wherever it begins in a long text", () => {
    for (const at of [0, 65_000, 65_530, 65_536, 65_537, 89_000, 131_060, 131_072, 200_000]) {
      const json = JSON.stringify([`${"é ".repeat(at / 2)}${secret} ${"y ".repeat(50_000)}`]);
      const { text, counts } = masked(json);
      expect(counts).toEqual({ [format]: 1 });
      expect(text).toBe(JSON.stringify([`${"é ".repeat(at / 2)}[masked ${format}] ${"y ".repeat(50_000)}`]));
    }
  });
});

test.each([
  "sk-learn is a library",
  "task-ant-colony-optimisation-in-a-long-hyphenated-name",
  "desk_live_abcdefghijklmnopqrstuvwxyz",
  "AKIA is a prefix",
  "XAKIAABCDEFGHIJKLMNOP",
  "eyJhbGciOiJIUzI1NiJ9 alone",
  "goblin_health, goblin_catalog_of_tools",
  "ghp_tooshort",
  "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
  "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
  "xoxo-love",
  "npm_config_registry",
  "a short word",
])("%j is no secret", (text) => {
  expect(masked(JSON.stringify({ text })).text).toBe(JSON.stringify({ text }));
});

test("the gateway's own values are masked in values, the longest first, and not in keys", () => {
  expect(masked(JSON.stringify({ a: `x${own}y`, hunter2: 1, b: "hunter2" })).text).toBe(
    '{"a":"x[masked secret]y","hunter2":1,"b":"[masked secret]"}',
  );
  expect(masked(`{"a":${escaped(own)}}`).text).toBe('{"a":"[masked secret]"}');
});

test("whatever is masked stays valid JSON of the same shape", () => {
  const token = secrets[1]![1];
  fc.assert(
    fc.property(fc.json(), (json) => {
      const value = JSON.parse(json) as unknown;
      const { text } = masked(JSON.stringify([value, token]));
      expect(JSON.parse(text)).toEqual([value, "[masked github-token]"]);
    }),
  );
});

test("texts that are made to be slow are not", () => {
  for (const unit of [
    "-----BEGIN PRIVATE KEY-----",
    "-eyJ",
    "eyJ.eyJ",
    "sk-ant-a1-",
    "github_pat_",
    "xox",
    '\\"',
    "-",
  ]) {
    const json = `["${unit.repeat(Math.floor(2_000_000 / unit.length))}"]`;
    const steps = { cost: 0 };
    const work = maskInSlices(Buffer.from(json), finder, new Map());
    for (let step = work.next(); !step.done; step = work.next()) steps.cost += step.value;
    // The cost of a slice is bounded by the text, not by what is in it.
    expect(steps.cost).toBeLessThan(500_000);
  }
}, 60_000);
