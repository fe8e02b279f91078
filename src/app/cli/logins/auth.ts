/** `goblin auth`: the logins at servers, as the store has them. Asks nobody, shows no token. */

import { type LoginSummary, loginRows, shownOwner } from "../../../auth/login/book/login-rows.ts";
import { LoginStore } from "../../../auth/login/store.ts";
import type { Config } from "../../../config/schema/config.ts";
import { clean } from "../../../lib/text/clean.ts";
import { chooseConfig } from "../config.ts";
import { type Column, printJson, printTable } from "../terminal/table.ts";
import { loginTargets } from "./targets.ts";

export interface AuthOptions {
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
}

/** The rows as `--json` prints them: times as people write them. */
export type PrintedLogin = Pick<LoginSummary, "server" | "principal" | "state" | "issuer" | "isRenewed" | "scopes"> & {
  readonly expiresAt: string | null;
};

const columns: Column<PrintedLogin>[] = [
  { title: "SERVER", text: ({ server }) => server },
  { title: "WHOSE", text: ({ principal }) => (principal === null ? "all" : shownOwner(principal)) },
  {
    title: "STATE",
    text: ({ state }) => state,
    colour: ({ state }) => (state === "logged-in" ? "green" : state === "no-login" ? "dim" : "yellow"),
  },
  { title: "ISSUER", text: ({ issuer }) => issuer ?? "–" },
  { title: "EXPIRES", text: ({ expiresAt, isRenewed }) => (isRenewed ? "renewed" : (expiresAt ?? "–")) },
  { title: "SCOPES", text: ({ scopes }) => scopes.join(" ") || "–" },
];

export async function auth(options: AuthOptions): Promise<number> {
  const { config } = await chooseConfig(options);
  const { rows, place, isInKeychain } = await storedLogins(config);
  if (options.json) printJson({ store: isInKeychain ? "keychain" : "file", place, servers: rows });
  else if (rows.length === 0) console.log("The config has no server with a login.");
  else {
    printTable(rows, columns);
    const key = isInKeychain ? ", whose key is in the keychain" : "";
    console.error(clean(`Logins are in the encrypted file ${place}${key}.`));
  }
  return 0;
}

interface StoredLogins {
  readonly rows: readonly PrintedLogin[];
  /** The file that they are in. */
  readonly place: string;
  readonly isInKeychain: boolean;
}

/** Returns the logins of a config's servers, and the file that they are in. */
export async function storedLogins(config: Config): Promise<StoredLogins> {
  const store = await LoginStore.open(process.env);
  const rows = loginRows(loginTargets(config), await store.read()).map(
    ({ server, principal, state, issuer, expiresAt, isRenewed, scopes }) => {
      const until = expiresAt === null ? null : new Date(expiresAt).toISOString();
      return { server, principal, state, issuer, expiresAt: until, isRenewed, scopes };
    },
  );
  return { rows, place: store.file, isInKeychain: await store.isInKeychain() };
}
