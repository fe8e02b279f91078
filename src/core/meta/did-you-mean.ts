/**
 * Adds suggestions to a not-found error: the names that were probably meant.
 */

import { nearestNames } from "../../lib/text/nearest/nearest-name.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";

const SUGGESTED = 3;
/** The most names to compare: a suggestion must not take long. */
const COMPARED = 20_000;

/**
 * Returns the result of `find`. If it throws a not-found error, adds the nearest names to the
 * error.
 */
export function orNearest<Found>(find: () => Found, name: string, names: () => readonly string[]): Found {
  try {
    return find();
  } catch (error) {
    // An ambiguous name already has candidates, and a name of an unavailable server is not a typo.
    if (!(error instanceof GoblinError) || error.data?.["candidates"] !== undefined) throw error;
    if (error.code === "BACKEND_UNAVAILABLE") throw error;
    const didYouMean = nearestNames(name, names().slice(0, COMPARED), SUGGESTED);
    if (didYouMean.length === 0) throw error;
    const message = `${error.message}. Did you mean ${didYouMean.join(" or ")}?`;
    throw new GoblinError(error.code, message, { data: { ...error.data, didYouMean }, cause: error });
  }
}
