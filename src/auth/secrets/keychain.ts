/**
 * The keychain of the operating system: macOS, Windows, or a Secret Service on Linux. It is used if
 * the package `@napi-rs/keyring` is installed beside Goblin and the keychain answers.
 *
 * The kernel's keyring on Linux does not count: it is empty after a restart of the machine.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { withTimeout } from "../../lib/timing/with-timeout.ts";

export interface Keychain {
  /** What its users call it. */
  readonly title: string;
  /** How many characters a secret may have; undefined: any number. */
  readonly longest?: number | undefined;
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** Resolves with whether there was such a secret. */
  remove(name: string): Promise<boolean>;
  names(): Promise<string[]>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What the secrets of users are kept under, and what Goblin's own keys are. */
const SERVICES = { secrets: "goblin-mcp", keys: "goblin-keys" } as const;
/** A credential has at most 2560 bytes there, in UTF-16. */
const MAX_LENGTH_ON_WINDOWS = 1280;
const PROBE_MS = 3000;
/** A locked keychain may ask its user first. */
const ANSWER_MS = 60_000;
const TITLES: Readonly<Record<string, string>> = {
  darwin: "the macOS keychain",
  win32: "the Windows Credential Manager",
  linux: "the Secret Service",
};

/** Returns undefined if there is no keychain, or `GOBLIN_KEYCHAIN` is 0. */
export async function openKeychain(
  env: Environment,
  use: keyof typeof SERVICES = "secrets",
): Promise<Keychain | undefined> {
  const title = TITLES[process.platform];
  if (title === undefined || env["GOBLIN_KEYCHAIN"] === "0") return undefined;
  if (process.platform === "linux" && !hasSessionBus(env)) return undefined;
  try {
    const keychain = await load(title, SERVICES[use]);
    const isThere = keychain.get("probe").then(() => true);
    return (await withTimeout(isThere, PROBE_MS, false)) ? keychain : undefined;
  } catch {
    // The package is not installed, or nothing answers.
    return undefined;
  }
}

function hasSessionBus(env: Environment): boolean {
  if (env["DBUS_SESSION_BUS_ADDRESS"]) return true;
  const folder = env["XDG_RUNTIME_DIR"];
  return folder !== undefined && folder !== "" && existsSync(join(folder, "bus"));
}

async function load(title: string, service: string): Promise<Keychain> {
  const { AsyncEntry, findCredentialsAsync } = await import("@napi-rs/keyring");
  const options = { linux: { store: "secret-service" as const } };
  const entry = (name: string) => new AsyncEntry(service, name, options);
  const answered = async <T>(asked: Promise<T>): Promise<T> => {
    const late = Symbol("late");
    const answer = await withTimeout(asked, ANSWER_MS, late);
    if (answer === late) throw new Error(`${title} did not answer`);
    return answer as T;
  };
  return {
    title,
    ...(process.platform === "win32" && { longest: MAX_LENGTH_ON_WINDOWS }),
    get: async (name) => (await answered(entry(name).getPassword())) ?? undefined,
    set: (name, value) => answered(entry(name).setPassword(value)),
    remove: (name) => answered(entry(name).deleteCredential()),
    names: async () => (await answered(findCredentialsAsync(service))).map(({ account }) => account),
  };
}
