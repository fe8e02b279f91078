/** The config of a server's login: what is sent to a remote server that asks for OAuth. */
import * as z from "zod";
import { httpUrl, scope } from "./auth.ts";

export const serverAuthSchema = z.strictObject({
  type: z
    .enum(["auto", "oauth", "none"])
    .default("auto")
    .describe(
      '"auto": a login is used if the server asks for one. "oauth": the server needs one, even if it does not ask properly. "none": never.',
    ),
  clientId: z
    .string()
    .min(1)
    .optional()
    .describe("The client id that the authorization server gave you. Default: Goblin registers itself."),
  clientSecret: z.string().min(1).optional().describe("Its secret, if it has one."),
  privateKey: z
    .string()
    .min(1)
    .optional()
    .describe("A private key in PEM form in place of the secret (private_key_jwt): RSA, P-256 or Ed25519."),
  keyId: z.string().min(1).optional().describe("The id that the authorization server knows the key by."),
  as: z
    .enum(["gateway", "caller"])
    .optional()
    .describe(
      'Whose login the server gets. "gateway", the default: one login serves all clients. "caller": each principal of gateway.auth has its own, or the user of this machine if nobody else can reach the gateway.',
    ),
  grant: z
    .enum(["authorization_code", "client_credentials", "token_exchange", "on_behalf_of", "id_jag"])
    .optional()
    .describe(
      'How Goblin gets tokens. "authorization_code", the default: somebody logs in. "client_credentials": by itself, with clientId and clientSecret or privateKey. The others are for as: "caller", with the access token that the caller came with: "token_exchange" (RFC 8693) and "on_behalf_of" (Entra) at the issuer, "id_jag" by way of idp.',
    ),
  idp: z
    .strictObject({
      issuer: httpUrl.describe("The identity provider, an issuer of gateway.auth.oauth."),
      clientId: z.string().min(1).describe("Goblin's client id there."),
      clientSecret: z.string().min(1).optional().describe("Its secret."),
    })
    .optional()
    .describe('For "id_jag": where callers come from, and who Goblin is there.'),
  CLIENT_ID: z.string().min(1).optional().describe("Cursor's name for clientId.").meta({ isForeign: true }),
  CLIENT_SECRET: z.string().min(1).optional().describe("Cursor's name for clientSecret.").meta({ isForeign: true }),
  scopes: z.array(scope).optional().describe("The scopes to ask for. Default: those that the server names."),
  resource: z
    .union([z.literal("auto"), z.literal(false), httpUrl], { error: 'expected "auto", a URL or false' })
    .default("auto")
    .describe(
      'The resource that tokens are asked for. "auto": as the server\'s metadata says. false: none, for providers that reject the parameter.',
    ),
  issuer: httpUrl
    .optional()
    .describe(
      'The authorization server. Only this one gets the clientSecret or privateKey. Default: the one that the server names at the first login; another one later needs a confirmation with "goblin login". Required for every grant but "authorization_code".',
    ),
  callbackPort: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe("The port of the redirect to http://127.0.0.1:<port>/callback. Default: a free one."),
});

/** The login in one spelling. */
export type ServerAuth = Readonly<Omit<z.output<typeof serverAuthSchema>, "CLIENT_ID" | "CLIENT_SECRET">>;

export const oauthSchema = z.strictObject({
  clientMetadataUrl: z
    .string()
    .regex(/^https:\/\/[^/?#]+\/[^?#]+$/, "expected an https URL with a path, and without query and fragment")
    .optional()
    .describe(
      "The address of a client metadata document that describes this gateway, for authorization servers that accept one.",
    ),
});
export type OAuthConfig = Readonly<z.output<typeof oauthSchema>>;
