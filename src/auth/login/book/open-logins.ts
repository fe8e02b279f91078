/** Opens the logins of the user's state folder for a running gateway. */
import { messageOf } from "../../../mcp/protocol/errors.ts";
import type { SharedPlaces } from "../../secrets/shared/shared-place.ts";
import { Logins } from "../logins.ts";
import { LoginStore } from "../store.ts";

export interface LoginsOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly warn: (message: string) => void;
  /** Where the logins of all replicas are. */
  readonly books?: SharedPlaces | undefined;
}

/** Returns undefined if the state folder cannot be used. */
export async function openLogins({ env, warn, books }: LoginsOptions): Promise<Logins | undefined> {
  try {
    const store = await LoginStore.open(env);
    if (books) await store.share(books, warn);
    const logins = new Logins(store, warn);
    await logins.load();
    return logins;
  } catch (error) {
    warn(`Servers that need a login cannot be used: ${messageOf(error)}`);
    return undefined;
  }
}
