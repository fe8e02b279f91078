/**
 * `goblin login`: logs in to servers that ask for it, one after the other, in the user's browser.
 */
import { createInterface } from "node:readline";
import { type AttemptOptions, beginLogin, type LoginAttempt } from "../../../auth/login/attempt.ts";
import { canonicalUrl, type LoginTarget } from "../../../auth/login/discovery.ts";
import { beginDeviceLogin, type DeviceOptions } from "../../../auth/login/grants/device.ts";
import { isUnattended } from "../../../auth/login/grants/unattended.ts";
import { type Probe, probe } from "../../../auth/login/probe.ts";
import { IssuerChanged } from "../../../auth/login/secret-issuer.ts";
import { LOCAL, type Login, LoginStore, wantedKey } from "../../../auth/login/store.ts";
import { guardFor } from "../../../auth/login/tokens/renewals.ts";
import { isLocalOnly } from "../../../config/local-only.ts";
import type { ServerAuth } from "../../../config/schema/server-auth.ts";
import { clean } from "../../../lib/text/clean.ts";
import { chooseConfig } from "../config.ts";
import { whileWaiting } from "../terminal/status-line.ts";
import { UsageError } from "../usage-error.ts";
import { openBrowser } from "./browser.ts";
import { type Callback, openCallback } from "./callback.ts";
import { loginTargets, namedTargets } from "./targets.ts";

export interface LoginOptions {
  readonly config?: string | undefined;
  /** False: the URL is printed instead. */
  readonly browser?: boolean | undefined;
  /** The redirect is pasted. */
  readonly manual?: boolean | undefined;
  /** The user enters a code on another device. */
  readonly device?: boolean | undefined;
}

interface Work {
  readonly target: LoginTarget;
  readonly store: LoginStore;
  /** Whether clients of the gateway are the user of this machine. */
  readonly isLocal: boolean;
  readonly metadataUrl: string | undefined;
  readonly options: LoginOptions;
}

export async function login(ids: readonly string[], options: LoginOptions): Promise<number> {
  const { config } = await chooseConfig(options);
  const store = await LoginStore.open(process.env);
  const isNamed = ids.length > 0;
  const isLocal = isLocalOnly(config.gateway);
  const targets = isNamed ? namedTargets(ids, config) : await withoutLogin(loginTargets(config), store, isLocal);
  let failures = 0;
  let logins = 0;
  for (const target of targets) {
    try {
      const { clientMetadataUrl: metadataUrl } = config.oauth;
      const done = await logInTo({ target, store, isLocal, metadataUrl, options }, isNamed);
      if (done) logins++;
    } catch (error) {
      // Several servers: the others may work.
      if (targets.length === 1) throw error;
      console.error(clean((error as Error).message));
      failures++;
    }
  }
  if (!isNamed && logins + failures === 0) console.log("No server needs a login.");
  return failures > 0 ? 1 : 0;
}

async function withoutLogin(
  targets: readonly LoginTarget[],
  store: LoginStore,
  isLocal: boolean,
): Promise<LoginTarget[]> {
  const { logins, wanted } = await store.read();
  const isDone = (url: string, owner: string): boolean =>
    wanted[wantedKey(url, owner)] === undefined && logins.some((one) => one.url === url && one.principal === owner);
  return targets.filter(
    ({ url, auth }) => needless(auth, isLocal) === undefined && !isDone(canonicalUrl(url), ownerFor(auth)),
  );
}

/** Why a login on the command line would be of no use. */
function needless(auth: ServerAuth, isLocal: boolean): string | undefined {
  if (isUnattended(auth)) return "Goblin gets its tokens by itself";
  const isOthers = auth.as === "caller" && !isLocal;
  return isOthers ? "each caller logs in for itself, with the link that its calls give" : undefined;
}

/** Whose login it is: the gateway's, or that of the user who is its only caller. */
function ownerFor({ as }: ServerAuth): string {
  return as === "caller" ? LOCAL : "";
}

/** Returns false if the server asks for no login. */
async function logInTo(work: Work, isNamed: boolean): Promise<boolean> {
  const { target, store, isLocal, metadataUrl, options } = work;
  const { id, auth } = target;
  const reason = needless(auth, isLocal);
  if (reason !== undefined) {
    console.log(`Server "${id}" needs no login here: ${reason}.`);
    return false;
  }
  const guard = await guardFor(target);
  const { isOpen, challenge }: Probe = await whileWaiting(`asking ${id}`, () => probe(target, guard));
  if (isOpen || (!isNamed && !challenge && auth.type !== "oauth")) {
    if (isNamed) console.log(`Server "${id}" asks for no login.`);
    return false;
  }
  const loggedIn = ({ scopes }: Login): true => {
    console.log(clean(`Logged in to "${id}"${scopes.length > 0 ? ` (${scopes.join(" ")})` : ""}.`));
    return true;
  };
  const begun = { target, guard, store, challenge, metadataUrl, principal: ownerFor(auth) };
  if (options.device) return loggedIn(await confirmingIssuer((confirmed) => onOtherDevice({ ...begun, ...confirmed })));
  let callback: Callback | undefined;
  const begin = (confirmed: Confirmed): Promise<LoginAttempt> =>
    whileWaiting(`asking how to log in to ${id}`, () =>
      beginLogin({
        ...begun,
        ...confirmed,
        redirectUri: async (wanted) => {
          callback ??= await openCallback(auth.callbackPort, wanted);
          return callback.redirectUri;
        },
      }),
    );
  try {
    const attempt = await confirmingIssuer(begin);
    await show(attempt.url, `"${id}" at ${attempt.issuer}`, options);
    const waited = (): Promise<URL> =>
      whileWaiting("waiting for the login in the browser", () => callback!.wait(attempt.state));
    const redirect = options.manual ? await pasted() : await waited();
    return loggedIn(await whileWaiting(`getting a token for ${id}`, () => attempt.finish(redirect)));
  } finally {
    callback?.close();
  }
}

type Confirmed = Pick<AttemptOptions, "confirmedIssuer">;

/** Begins a login. If another issuer would get the client secret, asks the person first. */
async function confirmingIssuer<T>(begin: (confirmed: Confirmed) => Promise<T>): Promise<T> {
  try {
    return await begin({});
  } catch (error) {
    if (!(error instanceof IssuerChanged) || !process.stdin.isTTY || !process.stderr.isTTY) throw error;
    console.error("The server names another authorization server than before:");
    console.error(clean(`  before: ${error.pinned}`));
    console.error(clean(`  now:    ${error.named}`));
    if (!(await isConfirmed("Send the client secret of the config to the new one? [y/N] "))) throw error;
    return begin({ confirmedIssuer: error.named });
  }
}

/** The end of input counts as no. */
async function isConfirmed(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await new Promise<string>((resolve) => {
    lines.once("close", () => resolve(""));
    lines.question(question, resolve);
  });
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}

async function onOtherDevice(work: DeviceOptions): Promise<Login> {
  const { userCode, url, completeUrl, issuer, finish } = await beginDeviceLogin(work);
  console.error(clean(`Log in to "${work.target.id}" at ${issuer}. Open this URL on any device:`));
  console.error(clean(url));
  console.error(clean(`and enter the code ${userCode}${completeUrl ? `, or open ${completeUrl}` : ""}`));
  return whileWaiting("waiting for the code to be entered", finish);
}

async function show(url: string, where: string, { browser, manual }: LoginOptions): Promise<void> {
  const opened = browser !== false && !manual && (await openBrowser(url));
  const advice = opened ? "The browser opens. If it does not, open this URL" : "Open this URL";
  console.error(clean(`Log in to ${where}. ${advice}:`));
  console.error(clean(url));
}

async function pasted(): Promise<URL> {
  console.error("Then paste the address that the browser ends at, and press Enter:");
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) {
    const text = line.trim();
    if (text === "") continue;
    lines.close();
    if (URL.canParse(text)) return new URL(text);
    throw new UsageError("that is not a URL: paste the whole address, from http:// on");
  }
  throw new UsageError("no address was pasted");
}
