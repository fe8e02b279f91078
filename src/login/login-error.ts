/**
 * Why a login did not succeed: the server, the step that failed and what to do about it.
 *
 * Invariant: the message never has a token, a code or a secret in it.
 */
import { clean } from "../text/clean.ts";

export interface LoginProblem {
  readonly server: string;
  /** What was being done, as "reading the metadata of https://…". */
  readonly step: string;
  /** What went wrong. */
  readonly what: string;
  readonly remedy: string;
  readonly cause?: unknown;
}

const LONGEST = 300;

export class LoginError extends Error {
  override readonly name = "LoginError";
  readonly step: string;

  constructor({ server, step, what, remedy, cause }: LoginProblem) {
    const said = clean(what);
    const short = said.length > LONGEST ? `${said.slice(0, LONGEST)}…` : said;
    super(`Login to server "${server}": ${step}: ${short}. ${remedy}`, cause === undefined ? undefined : { cause });
    this.step = step;
  }
}
