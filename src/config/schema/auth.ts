/** The config of who may connect: tokens, named tokens and OAuth issuers. */
import * as z from "zod";
import { isLoopback } from "../../lib/text/loopback.ts";
import { profileName } from "./profiles.ts";

// An empty token would let everybody in; a line break could never arrive in a header.
export const token = z.string().regex(/^[\x21-\x7e]+$/, "a token must be visible ASCII without spaces, and not empty");
export const httpUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), "expected an http or https URL")
  .refine((text) => !/[?#]/.test(text), "expected a URL without query and fragment");
export const scope = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, "a scope must be visible ASCII without spaces and quotes");
const date = z.string().refine(isDate, "expected a date such as 2027-03-01 or 2027-03-01T12:00:00Z");
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

/** A time of day needs its zone: the gateway may run in another one than its user. */
export function isDate(text: string): boolean {
  const isIso = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  return isIso && !Number.isNaN(Date.parse(text));
}

export const publicUrl = httpUrl.describe(
  "The URL that clients reach the gateway at, without the path of an endpoint, if a proxy is in front of it.",
);

const clientSchema = z
  .strictObject({
    token: token.optional().describe("The client's bearer token."),
    hash: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/, 'expected "sha256:" and 64 hex digits, as goblin token new prints them')
      .optional()
      .describe("The SHA-256 of the token, in place of the token: `goblin token new <name>` makes both."),
    expires: date
      .optional()
      .describe("When the token ends: it is refused from then on. A date means its beginning, in UTC."),
    admin: z.boolean().default(false).describe("Whether the token also opens /api."),
    profile: z
      .union([profileName, z.array(profileName).min(1)])
      .optional()
      .describe("The profile, or a list of them, that the token is limited to. Default: it is not limited."),
  })
  .refine(({ token: given, hash }) => (given === undefined) !== (hash === undefined), {
    error: 'needs either "token" or "hash"',
  });

const issuerSchema = z.strictObject({
  issuer: httpUrl.describe("The issuer, exactly as its tokens and its metadata name it."),
  audience: z
    .array(z.string().min(1))
    .default([])
    .describe("Accepted audiences of a token. Empty: gateway.publicUrl, with and without /mcp."),
  jwksUri: httpUrl.optional().describe("The address of the issuer's keys. Default: from the issuer's metadata."),
  algorithms: z
    .array(z.enum(ALGORITHMS))
    .min(1)
    .default([...ALGORITHMS])
    .describe("Accepted signature algorithms."),
  requiredScopes: z.array(scope).default([]).describe("Scopes that every token must have."),
  groups: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The claim that holds the groups; dots lead into nested claims. Default: groups, roles and realm_access.roles.",
    ),
  introspect: z
    .strictObject({
      endpoint: httpUrl.optional().describe("Default: from the issuer's metadata."),
      clientId: z.string().min(1).describe("The gateway's own client id at the issuer."),
      clientSecret: z.string().min(1).describe("Its secret."),
    })
    .optional()
    .describe("Lets the gateway ask the issuer about tokens that are not JWTs (RFC 7662). One issuer may have it."),
  login: z
    .strictObject({
      clientId: z.string().min(1).describe("The gateway's own client id at the issuer."),
      clientSecret: z.string().min(1).optional().describe("Its secret, if it has one."),
      scopes: z.array(scope).optional().describe("The scopes to ask for. Default: requiredScopes."),
      resource: z
        .union([z.literal("auto"), z.literal(false), httpUrl], { error: 'expected "auto", a URL or false' })
        .default("auto")
        .describe(
          'The resource that the token is asked for. "auto": the main endpoint of the gateway. false: none, for providers that reject the parameter.',
        ),
    })
    .optional()
    .describe(
      "Lets people show with a login at the issuer that a [link of the gateway](logins.md) is theirs. Without it, they must enter the token of their client. Register the redirect URL `<gateway.publicUrl>/connect/identity`.",
    ),
});

/** An opaque token does not say whose it is, and no issuer may see the tokens of another. */
function introspectAtMostOne(issuers: readonly z.output<typeof issuerSchema>[], context: z.RefinementCtx): void {
  const [first, ...others] = issuers.flatMap(({ introspect }, i) => (introspect ? [i] : []));
  for (const i of others) {
    const message = `only one issuer may have it: an opaque token would be shown to issuer ${first! + 1} as well`;
    context.addIssue({ code: "custom", path: [i, "introspect"], message });
  }
}

export const authSchema = z.strictObject({
  tokens: z
    .array(token)
    .default([])
    .describe("Bearer tokens for clients; any one of them is accepted. Empty: no token is needed."),
  clients: z
    .record(z.string().regex(/^[\w.@-]{1,64}$/, "expected a name of letters, digits and . _ - @"), clientSchema)
    .default({})
    .describe("Named tokens: sessions, limits and the audit file belong to the name, and survive a new token."),
  oauth: z
    .strictObject({
      issuers: z
        .array(issuerSchema)
        .min(1)
        .superRefine(introspectAtMostOne)
        .describe("The issuers whose access tokens are accepted."),
      adminScope: scope.optional().describe("The scope that opens /api. Default: no access token does."),
      profiles: z
        .record(
          profileName,
          z
            .strictObject({
              scopes: z.array(scope).default([]).describe("Scopes; a token needs one of them, or of the groups."),
              groups: z.array(z.string().min(1)).default([]).describe("Groups."),
            })
            .refine(({ scopes, groups }) => scopes.length + groups.length > 0, { error: "needs a scope or a group" }),
        )
        .default({})
        .describe("Who has which profile. If set, an access token that has none is refused. Default: all see all."),
    })
    .optional()
    .describe("Accepts OAuth 2.1 access tokens, and tells clients where to get one."),
  pairing: z
    .boolean()
    .default(false)
    .describe(
      "Lets OAuth clients in with a code that `goblin pair` prints ([pairing](pairing.md)). Needs gateway.publicUrl.",
    ),
});

interface Access {
  readonly auth: z.output<typeof authSchema>;
  readonly publicUrl?: string | undefined;
}

/** Checks what depends on the gateway's own URL. */
export function checkAccess({ auth, publicUrl: url }: Access, context: z.RefinementCtx): void {
  const wrong = (path: (string | number)[], message: string): void =>
    context.addIssue({ code: "custom", path: ["auth", ...path], message });
  auth.oauth?.issuers.forEach(({ audience }, i) => {
    if (url !== undefined || audience.length > 0) return;
    const message = 'needs "audience", or "gateway.publicUrl": a token for another service must not be accepted here';
    wrong(["oauth", "issuers", i], message);
  });
  if (auth.pairing && !isPrivateUrl(url)) {
    wrong(["pairing"], 'needs "gateway.publicUrl" with https: browsers and clients send secrets there');
  }
}

/** Plain http is private only on the machine itself. */
function isPrivateUrl(text: string | undefined): boolean {
  if (text === undefined || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || isLoopback(hostname);
}
