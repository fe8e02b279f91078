/** The config of replicas: what they share, and where each takes over requests of the others. */
import { isIP } from "node:net";
import * as z from "zod";
import { messageOf } from "../../mcp/protocol/errors.ts";
import { positiveMs } from "../schema/limits.ts";
import { readRedisAddress } from "./redis-address.ts";

const EXPECTED = "expected host:port, with an IPv6 address in brackets";
const hostPort = z.string().regex(/^(\[[0-9a-f:.]+\]|[^\s:/[\]]+):\d{1,5}$/i, EXPECTED);

export const clusterSchema = z
  .strictObject({
    secret: z
      .string()
      .regex(/^.{16,}$/s, "expected at least 16 characters, such as those of: openssl rand -base64 32")
      .optional()
      .describe("What all replicas share and nobody else knows. Default: $GOBLIN_SECRET."),
    listen: hostPort
      .optional()
      .describe(
        "Where this replica takes requests for its sessions from other replicas, such as 10.0.0.5:3001; port 0 picks a free one. Not set: every replica serves every session by itself.",
      ),
    address: hostPort
      .optional()
      .describe(
        "What other replicas reach cluster.listen at. Default: the same. Needed where that is 0.0.0.0 or [::].",
      ),
    redis: z
      .string()
      .superRefine((text, context) => {
        try {
          readRedisAddress(text);
        } catch (error) {
          context.addIssue({ code: "custom", message: messageOf(error) });
        }
      })
      .optional()
      .describe(
        "A Redis or Valkey that all replicas use: sessions of a replica that ends go on with their subscriptions, and stay ended once ended; logins, pairing and common limits are shared. It may hold a user and a password. rediss:// means TLS; redis+sentinel://host:26379,host/name and redis+cluster://host,host name a set behind Sentinel and a Redis Cluster.",
      ),
    timeoutMs: positiveMs
      .default(5000)
      .describe("How long another replica may be silent before requests for its sessions are answered with an error."),
  })
  .superRefine(({ listen, address, redis }, context) => {
    const problem = (message: string, key = "address"): void =>
      context.addIssue({ code: "custom", path: [key], message });
    if (address !== undefined && listen === undefined) problem("has no effect without cluster.listen");
    if (redis !== undefined && listen === undefined) problem("has no effect without cluster.listen", "redis");
    if (listen !== undefined && address === undefined && isWildcard(listen))
      problem(`is needed: other replicas cannot connect to ${listen}`);
  });
export type ClusterConfig = z.output<typeof clusterSchema>;

function isWildcard(address: string): boolean {
  const host = address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");
  return host === "0.0.0.0" || (isIP(host) === 6 && /^[0:]+$/.test(host));
}
