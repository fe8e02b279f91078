/**
 * Where a server's redirect leads, and whether it is followed: to the same origin, and from http to
 * https on the same host. Any other address could belong to somebody else.
 *
 * Only a redirect that keeps the method (307, 308) may repeat a POST; a GET follows all of them.
 */

export interface Redirect {
  readonly target: URL;
  readonly isFollowed: boolean;
  /** Credentials go to the origin that they were given for, and to no other. */
  readonly isSameOrigin: boolean;
}

const KEEPS_METHOD = new Set([307, 308]);
const FOR_GET = new Set([301, 302, 303, 307, 308]);

export interface Redirected {
  readonly status: number | undefined;
  readonly location: string | undefined;
  readonly method: "GET" | "POST";
}

/** Returns undefined if the response is no redirect. */
export function redirectOf({ status = 0, location, method }: Redirected, from: URL): Redirect | undefined {
  if (!FOR_GET.has(status) || location === undefined || !URL.canParse(location, from.href)) return undefined;
  const target = new URL(location, from);
  const isSameOrigin = target.origin === from.origin;
  const isUpgrade =
    from.protocol === "http:" && target.protocol === "https:" && target.hostname === from.hostname && !hasLogin(target);
  const isRepeatable = method === "GET" || KEEPS_METHOD.has(status);
  return { target, isSameOrigin, isFollowed: isRepeatable && (isSameOrigin || isUpgrade) };
}

function hasLogin({ username, password }: URL): boolean {
  return username + password !== "";
}
