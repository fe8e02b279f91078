/** Every known form and name of a secret, through each part that hides or reports secrets. */
import { describe, expect, test } from "vitest";
import { outlineConfig } from "../../../../src/config/reading/outline.ts";
import { parseConfig } from "../../../../src/config/reading/parse.ts";
import { logSecrets } from "../../../../src/config/secrets.ts";
import { maskInSlices } from "../../../../src/core/masking/mask-json.ts";
import { SecretFinder } from "../../../../src/core/masking/secret-finder.ts";
import { SECRET_FORMATS } from "../../../../src/lib/text/secrets/formats.ts";
import { finish } from "../../../../src/lib/timing/slices.ts";
import { SecretScan } from "../../../../src/observe/recording/secret-scan.ts";
import { masked, mayHoldSecret } from "../../../../src/observe/telemetry/audit-mask.ts";
import { sourceOf } from "../../../../src/upstream/lock/source.ts";

/** Written in parts, so that no scanner takes this file for a leak. */
const of = (...parts: string[]): string => parts.join("");
const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789";
const keys: Record<(typeof SECRET_FORMATS)[number], string[]> = {
  "aws-access-key": ["AK", "AS", "AB"].map((head) => of(head, "IA", upper.slice(0, 16))),
  "github-token": [..."pousr"]
    .map((kind) => of("gh", kind, "_", word.slice(0, 36)))
    .concat(of("github", "_pat_", word)),
  "gitlab-token": [of("gl", "pat-", word.slice(0, 20))],
  "slack-token": [of("xo", "xb-123456789012-", word.slice(0, 24)), of("xa", "pp-1-", word.slice(0, 24))],
  "slack-webhook": [of("https://hooks.slack", ".com/services/T12345678/B12345678/", word.slice(0, 24))],
  "anthropic-key": [of("sk-", "ant-api03-", word)],
  "openai-key": [of("sk-", "proj-", word), of("sk-", word, "01")],
  "stripe-key": [of("sk_", "live_", word.slice(0, 24)), of("rk_", "test_", word.slice(0, 24)), of("wh", "sec_", word)],
  "google-key": [of("AI", "za", word.slice(0, 35)), of("GOC", "SPX-", word.slice(0, 28)), of("ya", "29.", word)],
  "npm-token": [of("npm", "_", word.slice(0, 36))],
  "pypi-token": [of("pypi-", "AgEIcHlwaS", word, word)],
  "huggingface-token": [of("hf", "_", word.slice(0, 34))],
  "sendgrid-key": [of("SG", ".", word.slice(0, 22), ".", word.slice(0, 43))],
  "goblin-token": [of("goblin", "_", word.slice(0, 32))],
  jwt: [of("ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxMjM0NTY3ODkwIn0.", word)],
  "private-key": [of("-----BEGIN RSA ", "PRIVATE KEY-----\nMIIE\n", word, "\n-----END RSA ", "PRIVATE KEY-----")],
  "bearer-token": [of("Bearer ", word), of("bearer ", word)],
};
const cases = SECRET_FORMATS.flatMap((format) => keys[format].map((key): [string, string] => [format, key]));
/** A part that must not be seen. */
const coreOf = (key: string): string => key.slice(-16);

function configOf(args: readonly string[], headers: Record<string, string> = {}): string {
  return JSON.stringify({
    mcpServers: { one: { command: "a", args, env: { A: args[0] } }, two: { url: "http://b.example/mcp", headers } },
  });
}

describe.each(cases)("%s %#", (_format, key) => {
  const json = JSON.stringify({ note: `x ${key} y` });

  test("is masked in the audit log and in recordings", () => {
    expect(JSON.stringify(masked(JSON.parse(json)))).toBe('{"note":"***"}');
    expect(mayHoldSecret(json)).toBe(true);
    const bytes = new Uint8Array(Buffer.from(`${json}\0`.padEnd(json.length + 2, "\0")));
    const even = bytes.slice(0, bytes.length - (bytes.length % 2));
    const scanned = { bytes: even, pairs: new Uint16Array(even.buffer, 0, even.length / 2) };
    expect(new SecretScan([]).finds(scanned, 0, json.length)).toBe(true);
  });

  test("is masked in results", () => {
    const bytes = finish(maskInSlices(Buffer.from(json), new SecretFinder([]), new Map()));
    expect(bytes?.toString()).not.toContain(coreOf(key));
  });

  test("is hidden in the outline of a config, as an argument, a variable and a header", () => {
    const { servers } = outlineConfig(configOf([key], { "x-note": key }), "goblin.json");
    expect(JSON.stringify(servers)).not.toContain(coreOf(key));
  });

  test("is reported in arguments and open headers, and kept out of the log", () => {
    const { config, warnings } = parseConfig(configOf([key], { "x-note": key.replaceAll("\n", " ") }), {
      file: "goblin.json",
      env: {},
    });
    const told = warnings.map(({ message }) => message).join("\n");
    expect(told).toContain("other users of this machine can see the secret");
    expect(told).toContain("without encryption");
    expect(told).not.toContain(coreOf(key));
    expect(logSecrets(config)).toContain(key);
  });

  test("is not in the lock file's address", async () => {
    const url = `https://a.example/mcp/${key.replace(/^https:\/\//, "").replaceAll(/\s/g, "+")}/x`;
    const source = await sourceOf({ transport: { kind: "http", url, headers: {} } as never }, undefined, {});
    expect(source.url).not.toContain(coreOf(key));
  });
});

test.each([
  "password",
  "api_key",
  "apiKey",
  "X-Api-Key",
  "access_token",
  "client_secret",
  "auth",
  "cookie",
  "passphrase",
])("a value named %s is hidden by each of them", (name) => {
  expect(masked({ [name]: "abcdef" })).toEqual({ [name]: "***" });
  const { servers } = outlineConfig(configOf([`--${name}`, "abcdef", `--${name}=ghijkl`]), "goblin.json");
  expect(servers[0]!.command).toEqual(["a", `--${name}`, "[hidden]", `--${name}=[hidden]`]);
  const { config, warnings } = parseConfig(configOf([`--${name}`, "abcdef"]), { file: "goblin.json", env: {} });
  expect(warnings.map(({ message }) => message).join()).toContain("can see the secret");
  expect(logSecrets(config)).toContain("abcdef");
});

test("a JWT is found behind any word", () => {
  for (const before of ["", "x ", "token=", "a-", "."])
    expect(masked(`${before}${of("eyJ", "hbGciOiJI")}.${of("eyJ", "zdWIiOiIx")}.`)).toBe("***");
});

// The limit is far above what a linear search needs, and far below what a quadratic one does.
test.each(["eyJ-", "eyJa", "a", "eyJaaaaaaaaa."])(
  "a long text of %s is searched in a time that grows with its length alone",
  { timeout: 20_000 },
  (unit) => {
    const text = unit.repeat(400_000 / unit.length);
    expect(masked({ text })).toEqual({ text: unit.endsWith(".") ? "***" : text });
  },
);
