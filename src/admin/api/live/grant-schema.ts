/** The API's schemas of pairing: clients that a person let in, and codes for more of them. */
import * as z from "zod";

const time = z.number().describe("epoch milliseconds");

export const GrantRow = z.object({
  id: z.string(),
  clientId: z.string().describe("the client's id, or the address of its metadata document"),
  name: z.string().describe("what the client calls itself"),
  host: z.string().describe("where the client had itself sent the code: a host, or the scheme of an app"),
  resource: z.string().describe("the endpoint that its tokens are for"),
  profile: z.string().nullable().describe("the profile that the client is limited to; null: it is not limited"),
  createdAt: time.describe("epoch milliseconds: when a person let it in"),
  usedAt: time.describe("epoch milliseconds: when it last got a token"),
});
export type GrantRow = z.infer<typeof GrantRow>;

export const GrantParams = z.object({ id: z.string().describe("the grant's id") });

export const PairingCodeRow = z.object({
  code: z.string().describe("eight digits, for the page that asks for them"),
  expiresAt: time,
  url: z.string().describe("the endpoint to add to the client"),
});
export type PairingCodeRow = z.infer<typeof PairingCodeRow>;
