/**
 * Adds to a not-found error the names that were probably meant.
 */

import { GoblinError } from "../protocol/errors.ts";
import { nearest } from "../text/nearest-name.ts";

const SUGGESTED = 3;
/** More names than this are not compared: nobody should wait for a suggestion. */
const COMPARED = 20_000;

/** What `find` finds; if it finds nothing, its error with the nearest of these names. */
export function orNearest<Found>(find: () => Found, name: string, names: () => readonly string[]): Found {
  try {
    return find();
  } catch (error) {
    // An ambiguous name already comes with its candidates, and one of a server that is away is no
    // mistake.
    if (!(error instanceof GoblinError) || error.data?.["candidates"] !== undefined) throw error;
    if (error.code === "BACKEND_UNAVAILABLE") throw error;
    const didYouMean = nearest(name, names().slice(0, COMPARED), SUGGESTED);
    if (didYouMean.length === 0) throw error;
    const message = `${error.message}. Did you mean ${didYouMean.join(" or ")}?`;
    throw new GoblinError(error.code, message, { data: { ...error.data, didYouMean }, cause: error });
  }
}
