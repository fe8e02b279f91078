/**
 * Why a login did not succeed: the server, the step that failed and what to do about it.
 *
 * Invariant: the message never has a token, a code or a secret in it.
 */
import { clean } from "../../lib/text/clean.ts";

export interface LoginProblem {
  /** Undefined: it is no login to a server, but one of a person at the gateway. */
  readonly server: string | undefined;
  /** What was being done, as "reading the metadata of https://…". */
  readonly step: string;
  /** What went wrong. */
  readonly what: string;
  readonly remedy: string;
  readonly cause?: unknown;
}

const MAX_MESSAGE_LENGTH = 300;

export class LoginError extends Error {
  override readonly name = "LoginError";
  readonly step: string;
  /** What went wrong, without the rest. */
  readonly what: string;

  constructor({ server, step, what, remedy, cause }: LoginProblem) {
    const said = clean(what);
    const short = said.length > MAX_MESSAGE_LENGTH ? `${said.slice(0, MAX_MESSAGE_LENGTH)}…` : said;
    const where = server === undefined ? "Your login" : `Login to server "${server}"`;
    super(`${where}: ${step}: ${short}. ${remedy}`, cause === undefined ? undefined : { cause });
    this.step = step;
    this.what = short;
  }
}
