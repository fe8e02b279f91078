/**
 * `goblin token new`: makes a named token for a client. The token is printed once; the config gets
 * only its hash.
 */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { editConfig, valueIn, withValue } from "../../../config/editing/edit.ts";
import { findConfig, isFound } from "../../../config/reading/find.ts";
import { readConfigText } from "../../../config/reading/load.ts";
import { parseConfig } from "../../../config/reading/parse.ts";
import { isDate } from "../../../config/schema/auth.ts";
import { clean } from "../../../lib/text/clean.ts";
import { namedConfig } from "../environment.ts";
import { printJson } from "../terminal/table.ts";
import { TrustStore } from "../trust/trust-store.ts";
import { UsageError } from "../usage-error.ts";

export interface TokenOptions {
  readonly config?: string | undefined;
  readonly expires?: string | undefined;
  readonly admin?: boolean | undefined;
  readonly replace?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export async function newToken(name: string, options: TokenOptions): Promise<number> {
  if (!/^[\w.@-]{1,64}$/.test(name)) throw new UsageError("a name is 1 to 64 letters, digits and . _ - @");
  if (options.expires !== undefined && !isDate(options.expires))
    throw new UsageError(`--expires ${options.expires} is not a date such as 2027-03-01 or 2027-03-01T12:00:00Z`);
  const named = namedConfig(options.config, process.env);
  const path = named === undefined ? findConfig(process.cwd(), process.env) : resolve(named);
  if (path === undefined) throw new UsageError("there is no config to add the token to: name one with --config");
  const before = await readConfigText(path);
  const place = ["gateway", "auth", "clients", name];
  if (valueIn(before.text, place) !== undefined && !options.replace)
    throw new UsageError(`the config has a client "${name}" already: use --replace, or another name`);
  const token = `goblin_${randomBytes(24).toString("base64url")}`;
  const hash = `sha256:${createHash("sha256").update(token).digest("hex")}`;
  const { expires, admin } = options;
  const value = { hash, ...(expires !== undefined && { expires }), ...(admin && { admin }) };
  const trust = new TrustStore();
  const found = named === undefined && isFound(path, process.cwd(), process.env);
  const wasTrusted = found && trust.isTrusted(path, before.digest);
  editConfig(path, (text) => {
    const next = withValue(text, place, value);
    // Nothing is written if the result would not be a config.
    parseConfig(next, { file: path, env: process.env, found, readFile: (file) => readFileSync(file, "utf8") });
    return next;
  });
  // The change is the user's own, so it takes no consent away.
  if (wasTrusted) trust.trust(path, (await readConfigText(path)).digest);
  if (options.json) printJson({ name, token, hash, config: path });
  else {
    console.log(token);
    console.error(`Added "${name}" to ${clean(path)}. The token is not shown again; the config has only its hash.`);
  }
  return 0;
}
