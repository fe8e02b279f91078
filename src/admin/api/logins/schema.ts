/** What the admin API says about the logins at servers. */
import * as z from "zod";
import { ServerStateSchema } from "../schema.ts";

const moment = z.number().nullable().describe("epoch milliseconds; null if it is not known");

export const LoginRow = z.object({
  serverId: z.string(),
  owner: z.string().nullable().describe("whose login it is, for logging out; null: the gateway's, for all clients"),
  who: z.string().nullable().describe("the owner's name for people; null: all clients"),
  state: z.enum(["logged-in", "expired", "more-scopes", "no-login"]),
  personal: z.boolean().describe("whether each caller has a login of its own"),
  unattended: z.boolean().describe("whether the gateway gets its tokens without a person"),
  issuer: z.string().nullable(),
  scopes: z.array(z.string()),
  wanted: z.array(z.string()).describe("scopes that the server asked for since the login"),
  loggedInAt: moment,
  expiresAt: moment,
  renewed: z.boolean().describe("whether the token is renewed before it ends"),
  serverState: ServerStateSchema,
});
export type LoginRow = z.infer<typeof LoginRow>;

export const LogoutRequest = z.object({
  owner: z.string().nullable().optional().describe("whose login ends; null: the gateway's; left out: all of them"),
});
export type LogoutRequest = z.infer<typeof LogoutRequest>;

export const LogoutResult = z.object({
  ended: z.int().nonnegative().describe("the number of logins that were forgotten"),
  problems: z.array(z.string()).describe("authorization servers that could not be told"),
});
export type LogoutResult = z.infer<typeof LogoutResult>;
