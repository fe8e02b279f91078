/**
 * The connections to one HTTP server: undici's pool, and nothing else of undici. The whole package also loads its fetch, its caches and its
 * mocks: 9 MB and 70 ms that a gateway has no use for. The price is a path into the package, so its minor version is pinned.
 */
import type { Dispatcher, Pool } from "undici";
// @ts-expect-error The package's types only describe the whole.
import Implementation from "undici/lib/dispatcher/pool.js";

/** Of the pool's methods, those that are there without the rest of the package. */
export type ConnectionPool = Pick<Dispatcher, "dispatch"> & { destroy(): Promise<void> };

export function createPool(url: URL, connectMs: number): ConnectionPool {
  const options: Pool.Options = { connect: { timeout: connectMs }, headersTimeout: 0, bodyTimeout: 0 };
  return new (Implementation as new (origin: string, options: Pool.Options) => ConnectionPool)(url.origin, options);
}
