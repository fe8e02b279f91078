/**
 * The codes of `goblin pair`: a person types one on the consent page, which proves that the person
 * may use this gateway.
 *
 * A code is good for one grant and a few minutes, and void after a few wrong attempts from all
 * addresses together. So it cannot be guessed from many addresses either.
 */
import { createHmac, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import type { PairingBook, PairingCode, PairingStore } from "./store.ts";

export const CODE_DIGITS = 8;
export const CODE_LIFE_MS = 5 * 60_000;
const ATTEMPTS = 5;
/** Used and void codes are kept briefly, so that `goblin pair` can tell how one ended. */
const KEPT_MS = 10 * 60_000;

export type CodeResult = "accepted" | "wrong";

/** Makes a code for a gateway. Its older ones are void. */
export async function newCode(
  store: PairingStore,
  issuer: string,
  now: number,
): Promise<{ readonly id: string; readonly code: string; readonly expiresAt: number }> {
  const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, "0");
  const id = randomBytes(9).toString("base64url");
  const made = { id, issuer, digest: digestOf(store, id, code), expiresAt: now + CODE_LIFE_MS, attemptsLeft: ATTEMPTS };
  await store.change((book) => {
    const others = book.codes.filter((one) => one.issuer !== issuer || one.grant !== undefined);
    return { ...book, codes: [...others.filter(({ expiresAt }) => expiresAt + KEPT_MS > now), made] };
  });
  return { id, code, expiresAt: made.expiresAt };
}

/** Ends a code that nobody needs any more. */
export async function withdrawCode(store: PairingStore, id: string): Promise<void> {
  await store.change((book) => ({ ...book, codes: book.codes.filter((one) => one.id !== id) }));
}

export interface Attempt {
  readonly issuer: string;
  /** What the person typed. */
  readonly typed: string;
  /** The grant that the code is for, if it is right. */
  readonly grant: string;
  readonly now: number;
}

/** Tries a code. A right one is used up, a wrong one costs an attempt. */
export async function tryCode(store: PairingStore, attempt: Attempt): Promise<CodeResult> {
  let result: CodeResult = "wrong";
  await store.change((book) => {
    // It runs again if another replica changed the book meanwhile.
    result = "wrong";
    const open = book.codes.find((one) => one.issuer === attempt.issuer && isOpen(one, attempt.now));
    const typed = attempt.typed.replace(/[\s-]/g, "");
    if (!open || typed.length !== CODE_DIGITS) return book;
    const given = Buffer.from(digestOf(store, open.id, typed));
    if (timingSafeEqual(given, Buffer.from(open.digest))) {
      result = "accepted";
      return withCode(book, { ...open, grant: attempt.grant });
    }
    return withCode(book, { ...open, attemptsLeft: open.attemptsLeft - 1 });
  });
  return result;
}

export function isOpen({ grant, attemptsLeft, expiresAt }: PairingCode, now: number): boolean {
  return grant === undefined && attemptsLeft > 0 && expiresAt > now;
}

function withCode(book: PairingBook, code: PairingCode): PairingBook {
  return { ...book, codes: book.codes.map((one) => (one.id === code.id ? code : one)) };
}

function digestOf(store: PairingStore, id: string, code: string): string {
  return createHmac("sha256", store.derive("codes")).update(`${id} ${code}`).digest("hex");
}
