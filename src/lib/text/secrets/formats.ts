/**
 * The formats of keys and tokens that can be told from other text by their form alone. Whatever
 * hides or reports secrets takes them from here; names are in `names.ts`.
 *
 * Invariant: a search is linear. Each pattern is bounded, none has a repetition within a
 * repetition, and those that may be long begin only where no other match of theirs can be under
 * way.
 */
import { layersOf } from "../layers.ts";

export const FORMATS = {
  "aws-access-key": /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/,
  "github-token": /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})/,
  "gitlab-token": /(?<![A-Za-z0-9])glpat-[\w-]{20,255}/,
  "slack-token": /(?<![A-Za-z0-9])(?:xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-\d-[A-Za-z0-9-]{10,255})/,
  "slack-webhook": /hooks\.slack\.com\/services\/T[A-Z0-9]{6,12}\/B[A-Z0-9]{6,12}\/[A-Za-z0-9]{16,32}/,
  "anthropic-key": /(?<![A-Za-z0-9])sk-ant-[a-z0-9]{2,12}-[\w-]{20,255}/,
  "openai-key":
    /(?<![A-Za-z0-9])sk-(?:(?:proj|svcacct|admin)-[\w-]{20,255}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48}(?![A-Za-z0-9]))/,
  "stripe-key": /(?<![A-Za-z0-9])(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/=]{32,100})/,
  "google-key": /(?<![A-Za-z0-9])(?:AIza[\w-]{35}(?![\w-])|GOCSPX-[\w-]{28}(?![\w-])|ya29\.[\w-]{20,255})/,
  "npm-token": /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/,
  "pypi-token": /(?<![A-Za-z0-9])pypi-AgEIcHlwaS[\w-]{50,255}/,
  "huggingface-token": /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])/,
  "sendgrid-key": /(?<![A-Za-z0-9])SG\.[\w-]{22}\.[\w-]{43}(?![\w-])/,
  "goblin-token": /(?<![A-Za-z0-9])goblin_[\w-]{32}(?![\w-])/,
  jwt: /(?<![\w-])eyJ[\w-]{10,4000}\.eyJ[\w-]{10,8000}\.[\w-]{0,2000}/,
  "private-key":
    /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,20000}(?:-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?/,
  "bearer-token": /(?<=\b[Bb]earer\s{1,4})(?=[A-Za-z._~+/-]{0,200}\d)[\w.~+/-]{16,4000}/,
} as const satisfies Readonly<Record<string, RegExp>>;

export type SecretFormat = keyof typeof FORMATS;
export const SECRET_FORMATS = Object.keys(FORMATS) as readonly SecretFormat[];

/** The longest match of any format, roughly. */
export const MAX_SECRET_LENGTH = 24 * 1024;

/** What each of them has in it, in JSON that has no escapes but the necessary ones. */
export const BEGINNINGS: readonly string[] = [
  "AKIA",
  "ASIA",
  "ABIA",
  "ACCA",
  "AIza",
  "ghp_",
  "gho_",
  "ghu_",
  "ghs_",
  "ghr_",
  "github_pat_",
  "glpat-",
  "xoxa-",
  "xoxb-",
  "xoxe-",
  "xoxo-",
  "xoxp-",
  "xoxr-",
  "xoxs-",
  "xapp-",
  "hooks.slack",
  "sk-",
  "sk_live_",
  "sk_test_",
  "rk_live_",
  "rk_test_",
  "whsec_",
  "GOCSPX-",
  "ya29.",
  "npm_",
  "pypi-",
  "hf_",
  "SG.",
  "goblin_",
  "eyJ",
  "PRIVATE KEY",
  "Bearer",
  "bearer",
];

export const PREFIXES = new RegExp(BEGINNINGS.map((text) => text.replaceAll(".", "\\.")).join("|"));

/**
 * Less certain forms, for places where hiding too much does no harm. That of a JWT is looked for at
 * its first dot: its first part can begin anywhere in a long word, which would take quadratic time.
 */
const LIKELY =
  /\bBearer\s+\S+|\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{10,}|\.(?<=\beyJ[\w-]{8,4000}\.)eyJ[\w-]{8,}\.|-----BEGIN [A-Z ]*PRIVATE KEY-----/;
/** What JSON has in it if a string in it has such a form. Escapes may spell anything. */
export const LIKELY_PREFIXES = new RegExp(
  `${PREFIXES.source}|(?:sk|pk|rk|ghp|gho|ghs|_pat|glpat|xox[abprs])[-_]|\\\\[u/]`,
);
const ANY = new RegExp([...Object.values(FORMATS), LIKELY].map(({ source }) => source).join("|"));

/** Whether a text has a key or token in it, or what is likely one, however JSON spells it. */
export function holdsSecret(text: string): boolean {
  for (const layer of layersOf(text)) if (ANY.test(layer.text)) return true;
  return false;
}

const OPAQUE = /^(?=.*\d)(?=.*[A-Za-z])[\w.~%=+-]{20,}$/;

/** Whether a part of a path may be a key: some servers have one in their address. */
export function isOpaque(part: string): boolean {
  return OPAQUE.test(part) || holdsSecret(part);
}
