/**
 * Texts that instruct a model instead of describing something: to forget its instructions, to keep
 * something from the user, to fetch secrets, or to treat other servers' tools in another way.
 *
 * Every pattern is linear. A pattern is hard only if no real definition has it.
 */
import type { Finding } from "../drift.ts";

type Found = Pick<Finding, "rule" | "isHard" | "what">;

const HARD: readonly (readonly [rule: string, pattern: RegExp, what: string])[] = [
  [
    "instructs-model",
    /\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+|these\s+){0,3}(?:previous|prior|above|earlier|preceding|system)\s+(?:instructions?|prompts?|messages?|rules?|directions?)\b/i,
    "it tells the model to ignore its instructions",
  ],
  [
    "instructs-model",
    /<\|(?:im_start|im_end|system|user|assistant|endoftext)\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:system|assistant)(?:_prompt|-prompt)?>/i,
    "it has marks that separate messages of a model",
  ],
  [
    "reads-secrets",
    /\b(?:read|cat|open|include|pass|send|copy|upload|attach|provide|fetch)\b[^.\n]{0,80}(?:\.ssh\/|\bid_(?:rsa|ed25519)\b|\.cursor\/mcp\.json|claude_desktop_config|\/etc\/(?:passwd|shadow)|\.aws\/credentials|\.npmrc\b|\.netrc\b)/i,
    "it asks for a file with secrets",
  ],
  [
    "hides-from-user",
    /\b(?:do not|don't|never|must not|without)\s+(?:tell|telling|inform|informing|mention|mentioning|notify|notifying|alert|alerting)\s+(?:this\s+|it\s+|anything\s+)?(?:to\s+)?(?:the\s+)?(?:user|human|person)\b[^.\n]{0,60}\b(?:read|sen[dt]|upload|exfiltrat|forward|copied|copy|side\s?note|call)/i,
    "it tells the model to do something behind the user's back",
  ],
];

const SOFT: typeof HARD = [
  [
    "hides-from-user",
    /\b(?:do not|don't|never|must not|without)\s+(?:tell|telling|inform|informing|mention|mentioning|notify|notifying|reveal|revealing|alert|alerting)\b[^.\n]{0,40}\buser\b/i,
    "it tells the model to keep something from the user",
  ],
  ["instructs-model", /<(?:important|secret|hidden|critical)>/i, "it has a mark that asks for obedience"],
  ["instructs-model", /\byou are (?:now|no longer)\b|\bact as (?:a|an|the)\b/i, "it tells the model who it is"],
  [
    "instructs-model",
    /\b(?:before|after) (?:using|calling|invoking) (?:any|every|all|each)(?: other)? tools?\b/i,
    "it wants to be used around all tools",
  ],
];

export function instructions(text: string): Found[] {
  const hit = HARD.find(([, pattern]) => pattern.test(text));
  const hits = hit ? [hit] : SOFT.filter(([, pattern]) => pattern.test(text));
  return hits.map(([rule, pattern, what]) => ({
    rule,
    isHard: hit !== undefined,
    what: `${what}: ${excerpt(text, pattern)}`,
  }));
}

function excerpt(text: string, pattern: RegExp): string {
  const { 0: found = "", index = 0 } = pattern.exec(text) ?? {};
  const cut = text.slice(index, index + Math.min(found.length, 80)).replace(/\s+/g, " ");
  return JSON.stringify(found.length > 80 ? `${cut}…` : cut);
}

const BASE64 = /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,}={0,2}/g;
const HEX = /(?:\\x[0-9a-f]{2}){12,}|(?:%[0-9a-f]{2}){12,}|\b(?:[0-9a-f]{2}){20,}\b/gi;
const COMMAND =
  /\b(?:curl|wget)\s+\S|\b(?:ba|z)?sh\s+-c\b|\|\s*(?:ba|z)?sh\b|\bpowershell\b|\b(?:eval|exec)\s*\(|\brm\s+-rf?\b|\bnc\s+-e\b|\/dev\/tcp\//i;
const PRINTABLE = /^[\x20-\x7E\t\r\n]{12,}$/;
const MAX_DECODED = 64 * 1024;
/** Long enough to say something. An open repetition of letters would take quadratic time. */
const WORDS = /[A-Za-z]{3}\s+[A-Za-z]{2}/;

/** Text that is encoded so that people do not read it. */
export function encodedPayloads(text: string): Found[] {
  if (/^data:(?:image|font|audio|video)\//i.test(text)) return [];
  const found: Found[] = [];
  for (const decoded of decodedParts(text.slice(0, MAX_DECODED))) {
    if (!PRINTABLE.test(decoded)) continue;
    const isAttack = COMMAND.test(decoded) || HARD.some(([, pattern]) => pattern.test(decoded));
    if (!isAttack && !WORDS.test(decoded)) continue;
    const what = `${isAttack ? "an encoded command or instruction" : "encoded text"}: ${JSON.stringify(decoded.slice(0, 60))}`;
    found.push({ rule: "encoded-payload", isHard: isAttack, what });
    if (isAttack) break;
  }
  return found;
}

function decodedParts(text: string): string[] {
  const base64 = [...text.matchAll(BASE64)].map(([part]) => Buffer.from(part, "base64").toString("latin1"));
  const hex = [...text.matchAll(HEX)].map(([part]) =>
    Buffer.from(part.replace(/\\x|%/g, ""), "hex").toString("latin1"),
  );
  return [...base64, ...hex];
}
