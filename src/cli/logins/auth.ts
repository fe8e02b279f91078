/** `goblin auth`: the logins at servers, as the store has them. Asks nobody, shows no token. */
import type { Config } from "../../config/schema/config.ts";
import { canonicalUrl } from "../../login/discovery.ts";
import { type Login, LoginStore, wantedKey } from "../../login/store.ts";
import { clean } from "../../text/clean.ts";
import { chooseConfig } from "../config.ts";
import { type Column, printJson, printTable } from "../terminal/table.ts";
import { loginTargets } from "./targets.ts";

export interface AuthOptions {
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
}

export interface LoginRow {
  readonly server: string;
  /** The principal whose login it is; null: the gateway's, for all clients. */
  readonly principal: string | null;
  readonly state: "logged-in" | "expired" | "more-scopes" | "no-login";
  readonly issuer: string | null;
  /** When the token ends that is in use; it is renewed before, if it can be. */
  readonly expiresAt: string | null;
  readonly isRenewed: boolean;
  readonly scopes: readonly string[];
}

const columns: Column<LoginRow>[] = [
  { title: "SERVER", text: ({ server }) => server },
  { title: "WHOSE", text: ({ principal }) => (principal === null ? "all" : shownPrincipal(principal)) },
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
  const { rows, place, isInKeychain } = await loginRows(config);
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
  readonly rows: readonly LoginRow[];
  /** The file that they are in. */
  readonly place: string;
  readonly isInKeychain: boolean;
}

/** Returns the logins of a config's servers, and the file that they are in. */
export async function loginRows(config: Config): Promise<StoredLogins> {
  const store = await LoginStore.open(process.env);
  const { logins, wanted } = await store.read();
  const rows = loginTargets(config).flatMap(({ id, url, auth: { as } }) => {
    const own = canonicalUrl(url);
    const found = logins.filter((one) => one.url === own && (one.principal !== "") === (as === "caller"));
    if (found.length === 0) return rowOf({ server: id, principal: null }, undefined, false);
    return found.map((login) => {
      const { principal } = login;
      const wantsMore = wanted[wantedKey(own, principal)] !== undefined;
      return rowOf({ server: id, principal: principal === "" ? null : principal }, login, wantsMore);
    });
  });
  return { rows, place: store.file, isInKeychain: await store.isInKeychain() };
}

/** The subject of an issuer, or the name of a token. */
function shownPrincipal(principal: string): string {
  return principal.slice(principal.lastIndexOf("\u001f") + 1).replace(/^client:/, "");
}

function rowOf(whose: Pick<LoginRow, "server" | "principal">, login: Login | undefined, wantsMore: boolean): LoginRow {
  if (!login) return { ...whose, state: "no-login", issuer: null, expiresAt: null, isRenewed: false, scopes: [] };
  const { issuer, expiresAt, scopes, refreshToken } = login;
  const isRenewed = refreshToken !== undefined;
  const isOver = !isRenewed && expiresAt !== undefined && expiresAt < Date.now();
  return {
    ...whose,
    state: isOver ? "expired" : wantsMore ? "more-scopes" : "logged-in",
    issuer,
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    isRenewed,
    scopes,
  };
}
