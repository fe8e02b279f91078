/**
 * The search for secrets in bytes: whatever masking would change, it must find. What it finds need
 * not be a secret, but common messages must not look like one, or every line is parsed.
 */
import { expect, test } from "vitest";
import { maskMessage } from "../../../../src/observe/recording/mask-message.ts";
import { SecretScan } from "../../../../src/observe/recording/secret-scan.ts";
import { masked, mayHoldSecret } from "../../../../src/observe/telemetry/audit-mask.ts";
import { Masker } from "../../../../src/observe/telemetry/masker.ts";

const known = ["hush-hush-key", "Ünïcode-geheim", 'quo"ted-secret', "back\\slash-secret"];
const masker = new Masker();
masker.hide(known);
const masks = {
  json: (text: string) => masker.json(text),
  text: (text: string) => masker.text(text),
  suspects: () => true,
  value: (value: unknown) => masked(value),
};
const scan = new SecretScan(known);

/** At both places that a message can have in its pairs of bytes, with other bytes around it. */
function finds(text: string): boolean {
  const found = ["{}", "{}\n"].map((before) => {
    const all = Buffer.from(`${before}${text}}\n{"t":1 }`);
    const pairs = new Uint16Array(all.length >>> 1);
    const bytes = new Uint8Array(pairs.buffer);
    bytes.set(all.subarray(0, bytes.length));
    return scan.finds({ bytes, pairs }, before.length, before.length + Buffer.byteLength(text));
  });
  expect(new Set(found).size).toBe(1);
  return found[0]!;
}

test.each([
  "password",
  "passwd",
  "passphrase",
  "pass",
  "pwd",
  "secret",
  "clientSecret",
  "token",
  "ACCESS_TOKEN",
  "apiKey",
  "x-api-key",
  "apikey",
  "access_key",
  "AccessKey",
  "privateKey",
  "private-key",
  "Authorization",
  "auth",
  "cookie",
  "credentials",
  "xprogressToken",
  "progressTokens",
  "PROGRESSTOKEN",
  "tok\nen-token",
  'token"x',
  "token\\",
])("a member named %j is found, in JSON and in JSON within a text", (name) => {
  const value = { a: { [name]: "v" } };
  expect(finds(JSON.stringify(value))).toBe(true);
  expect(finds(JSON.stringify(value, null, 2))).toBe(true);
  expect(finds(JSON.stringify({ text: JSON.stringify(value) }))).toBe(true);
  expect(finds(JSON.stringify({ text: JSON.stringify({ text: JSON.stringify(value) }) }))).toBe(true);
});

test.each([
  "Bearer abc",
  "Bearer\tabc",
  "x\nsk-abcdefghijkl",
  "sk_abcdefghijkl",
  "ghp_abcdefghijkl",
  "glpat-abcdefghijkl",
  "github_pat_abcdefghijkl",
  "xoxb-abcdefghijkl",
  "goblin_abcdefghijkl",
  "eyJhbGciOiJI.eyJzdWIiOiJh.",
  ...known,
  "-----BEGIN RSA PRIVATE KEY-----",
])("the value %j is found", (value) => {
  expect(finds(JSON.stringify({ a: [value, `before ${value} after`] }))).toBe(true);
});

test.each([
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"token-17 for the author"}}}',
  '{"_meta":{"progressToken":17},"name":"get_forecast","arguments":{"city":"Aachen","days":3}}',
  '{"content":[{"type":"text","text":"task-list-of-all-things: disk_usage_of_everything\\nok"}],"isError":false}',
  '{"text":"The secret of the classic cookie: key ideas"}',
])("nothing is found in %s", (text) => {
  expect(finds(text)).toBe(false);
});

test("what masking changes is found, in thousands of messages of suspicious parts", () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const parts = [
    ..."pass|word|wd|phrase|pwd|secret|to|ken|Token|progress|api|access|private|Key|KEY|-|_|auth|orization".split("|"),
    ..."cred|ential|coo|kie|Bearer |bearer\t|sk|pk-|rk_|ghp|gho_|ghs-|github|_pat_|glpat|xox|b-|goblin_|eyJ".split("|"),
    ...'abcdefghijkl|eyJabcdefghijk.eyJabcdefghijk.|"|\\|/|\n| |é|:|{|}|maxTokens|1|hush-|hush-key'.split("|"),
    ...known,
  ];
  const word = (): string => Array.from({ length: 1 + random(4) }, () => parts[random(parts.length)]).join("");
  const value = (depth: number): unknown => {
    const kind = random(depth > 2 ? 3 : 6);
    if (kind === 0) return random(1000);
    if (kind < 3) return word();
    if (kind === 3) return [value(depth + 1), value(depth + 1)];
    if (kind === 4) return JSON.stringify(value(depth + 1));
    return { [word()]: value(depth + 1), [random(2) ? "text" : word()]: value(depth + 1) };
  };
  let changed = 0;
  let passed = 0;
  for (let round = 0; round < 6000; round++) {
    const made = { a: value(0) };
    const text = random(2) ? JSON.stringify(made) : JSON.stringify(made, null, 1);
    const { isMasked } = maskMessage(text, true, masks);
    const found = finds(text);
    if (isMasked) changed++;
    if (!found) passed++;
    if (isMasked && !found) expect.fail(`not found in ${text}`);
    // The closer look, too, is never wrong about a no.
    if (isMasked && !mayHoldSecret(text)) expect(masker.json(text)).not.toBe(text);
  }
  expect(changed).toBeGreaterThan(1000);
  expect(passed).toBeGreaterThan(500);
});
