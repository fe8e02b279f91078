/**
 * The logins that a program passes to its gateway: those that `goblin login` made on this machine.
 *
 * Invariant: the program holds a handle and sees no token. What logins need is loaded only if they
 * are opened.
 */
import type { Logins } from "../../auth/login/logins.ts";

/** The opened logins, hidden from the program. */
const opened = new WeakMap<object, Logins>();

/** Opens the logins for the handle that the program gets. */
export async function openFor<Handle extends { warn(message: string): void }>(
  handle: Handle,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Handle> {
  const [{ Logins }, { LoginStore }] = await Promise.all([
    import("../../auth/login/logins.ts"),
    import("../../auth/login/store.ts"),
  ]);
  const logins = new Logins(await LoginStore.open(env), (message) => handle.warn(message));
  await logins.load();
  opened.set(handle, logins);
  return handle;
}

/** @throws TypeError if this did not come from `openLogins`. */
export function loginsOf(handle: object): Logins {
  const logins = opened.get(handle);
  if (!logins) throw new TypeError("logins: expected what openLogins() returned");
  return logins;
}
