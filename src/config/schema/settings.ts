/**
 * The sections of the config that concern the gateway itself, each with its defaults and its type
 * by name: where it listens, its programs, its kept calls and its log.
 *
 * Every key carries its description and default here and nowhere else: the JSON Schema, the docs
 * and the checks are derived from these objects. A section that is absent from the file is a
 * section full of defaults.
 */
import { isIP } from "node:net";
import * as z from "zod";
import { ownLogLevels } from "../../mcp/protocol/log-levels.ts";
import { authSchema, checkAccess, httpUrl, publicUrl, token } from "./auth.ts";

const hostName = z.string().regex(/^[^\s/]+$/, "expected a host name, with a port if needed, without scheme or path");
const origin = z
  .string()
  .regex(/^(null|[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+)$/i, "expected an origin such as https://example.com, without a path");

const addressRange = z
  .string()
  .refine(isAddressRange, "expected an IP address, or a network such as 10.0.0.0/8 or fd00::/8");

function isAddressRange(text: string): boolean {
  const [address = "", prefix, ...more] = text.split("/");
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

export const gatewaySchema = z
  .strictObject({
    host: z.string().min(1).default("127.0.0.1").describe("The interface to listen on."),
    port: z.int().min(0).max(65_535).default(3000).describe("The port to listen on; 0 picks a free one."),
    allowedHosts: z
      .array(hostName)
      .default([])
      .describe("Accepted values of the Host header, in addition to loopback and gateway.host."),
    allowedOrigins: z
      .array(origin)
      .default([])
      .describe(
        "Origins of web pages that may use the gateway and read its answers (CORS). Pages on this machine may send requests, but not read the answers, unless listed.",
      ),
    trustedProxies: z
      .array(addressRange)
      .default([])
      .describe(
        "Addresses of reverse proxies, such as 10.0.0.0/8 or ::1. Their X-Forwarded-For or Forwarded header says where a request comes from, for limits and the log. The headers of all others are ignored.",
      ),
    publicUrl: publicUrl.optional(),
    auth: authSchema.prefault({}).describe("Who may connect."),
    tls: z
      .strictObject({
        cert: z.string().min(1).describe("A PEM file with the certificate, followed by its intermediate certificates."),
        key: z.string().min(1).describe("A PEM file with the certificate's private key, without a passphrase."),
      })
      .optional()
      .describe(
        "Serves https instead of http. Paths are relative to the config's folder; ~ is the home folder. Goblin reloads the files when they change.",
      ),
    admin: z
      .strictObject({
        tokens: z
          .array(token)
          .default([])
          .describe(
            "Bearer tokens for /api; they open every other route too. Empty: /api is closed if gateway.auth is set, except to its admins, and open otherwise.",
          ),
        host: z.string().min(1).optional().describe("The interface for gateway.admin.port. Default: 127.0.0.1."),
        port: z
          .int()
          .min(0)
          .max(65_535)
          .optional()
          .describe(
            "A separate port for /api and /metrics, which gateway.port then no longer serves; 0 picks a free one.",
          ),
      })
      .refine(({ host, port }) => host === undefined || port !== undefined, {
        path: ["host"],
        error: "has no effect without gateway.admin.port",
      })
      .prefault({})
      .describe("Who may administer the gateway, and on which port."),
  })
  .superRefine(checkAccess);
export type GatewayConfig = z.output<typeof gatewaySchema>;

export const inheritEnvSchema = z.union([z.boolean(), z.array(z.string().regex(/^[^=\0]+$/))], {
  error: "expected true, false or a list of names of environment variables",
});

export const backendsSchema = z.strictObject({
  inheritEnv: inheritEnvSchema
    .optional()
    .describe("What programs get of Goblin's environment; see inheritEnv of a server's entry."),
});
export type BackendsConfig = z.output<typeof backendsSchema>;

export const callsSchema = z.strictObject({
  keep: z
    .int()
    .min(0)
    .max(100_000)
    .default(500)
    .describe(
      "The newest calls that are kept in memory with their arguments and answers, for the dashboard; 0 keeps none.",
    ),
});
export type CallsConfig = z.output<typeof callsSchema>;

export const recordSchema = z.strictObject({
  dir: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The folder of the recordings. Relative to the config\'s folder; ~ is the home folder. Default: "recordings" in the state folder.',
    ),
  servers: z
    .array(z.string().min(1))
    .min(1)
    .default(["*"])
    .describe("Patterns of the servers whose messages are recorded; with *, also requests that go to no server."),
  maxBytes: z
    .int()
    .min(65_536)
    .default(67_108_864)
    .describe("The size of all recordings in the folder together; the oldest part goes first."),
  bodies: z.boolean().default(true).describe("Whether the messages themselves are recorded, or only their sizes."),
});
export type RecordConfig = z.output<typeof recordSchema>;

export const logSchema = z.strictObject({
  level: z
    .enum([...ownLogLevels, "silent"])
    .default("info")
    .describe("The minimum level to log."),
  format: z
    .enum(["auto", "json", "pretty"])
    .default("auto")
    .describe('"auto" is pretty on a terminal and JSON elsewhere.'),
  audit: z
    .string()
    .min(1)
    .optional()
    .describe("A file that gets one line per call. Relative to the config's folder; ~ is the home folder."),
  auditArguments: z.boolean().default(false).describe("Whether audit lines contain the arguments of calls."),
});
export type LogConfig = z.output<typeof logSchema>;

/** The MCP registries that `goblin search` and `goblin add` ask. */
export const registrySchema = z.strictObject({
  urls: z
    .array(httpUrl)
    .min(1)
    .default(["https://registry.modelcontextprotocol.io"])
    .describe("The addresses of MCP registries. The first that has a server of a name is believed."),
});
export type RegistryConfig = z.output<typeof registrySchema>;
