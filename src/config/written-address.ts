/**
 * Reads a gateway's address from the text of its config. Substitutes nothing, and works on a text
 * that is otherwise invalid.
 *
 * Invariant: loads no schema. `goblin stdio --attach` reads this at each start of a client.
 */
import { readFile } from "node:fs/promises";
import { parse as parseTree } from "jsonc-parser";
import { recordOf } from "../lib/structures/record.ts";

export interface WrittenAddress {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** The API's address, if it differs from the gateway's. */
  readonly admin?: { readonly host?: string | undefined; readonly port?: number | undefined };
  readonly tls?: boolean;
  /** The first admin token, else the first client token; undefined if it comes from a variable. */
  readonly token?: string | undefined;
  /** Whether the config says more about the address or the tokens than can be read here. */
  readonly isPartial?: boolean;
}

export async function addressIn(path: string): Promise<WrittenAddress> {
  const text = await readFile(path, "utf8").catch(() => "");
  const { gateway } = (parseTree(text) ?? {}) as { gateway?: unknown };
  const { auth, admin, tls } = recordOf(gateway);
  return {
    ...hostAndPort(gateway),
    admin: hostAndPort(admin),
    tls: tls !== undefined,
    token: firstToken(admin) ?? firstToken(auth),
    isPartial: recordOf(auth)["clients"] !== undefined || JSON.stringify(gateway ?? {}).includes("${"),
  };
}

function hostAndPort(value: unknown): Pick<WrittenAddress, "host" | "port"> {
  const { host, port } = recordOf(value);
  return {
    host: typeof host === "string" && host !== "" ? host : undefined,
    port: Number.isInteger(port) ? (port as number) : undefined,
  };
}

function firstToken(value: unknown): string | undefined {
  const { tokens } = recordOf(value);
  const token: unknown = Array.isArray(tokens) ? tokens[0] : undefined;
  return typeof token === "string" && token !== "" && !token.includes("${") ? token : undefined;
}
