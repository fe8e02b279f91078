/**
 * Where the page is: a path below `/ui`, with a query. Every view has an address of its own, so
 * that links, reload and the back button work.
 */
import { useEffect, useState } from "preact/hooks";

export interface PageAddress {
  /** The parts of the path, decoded. Empty for the overview. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

const BASE = "/ui";
const listeners = new Set<() => void>();

export function href(path: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "")).toString();
  return [BASE, ...path.map(encodeURIComponent)].join("/") + (search && `?${search}`);
}

function placeOf({ pathname, search }: Pick<Location, "pathname" | "search">): PageAddress {
  const path = pathname
    .slice(BASE.length)
    .split("/")
    .filter((part) => part !== "")
    .map(decoded);
  return { path, query: new URLSearchParams(search) };
}

export function go(address: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  for (const listener of listeners) listener();
}

/** Keeps a value in the address without a step in the history. */
export function setQuery(name: string, value: string): void {
  const { path, query } = placeOf(location);
  go(href(path, { ...Object.fromEntries(query), [name]: value }), { replace: true });
}

export function usePlace(): PageAddress {
  const [place, setPlace] = useState(() => placeOf(location));
  useEffect(() => {
    const update = (): void => setPlace(placeOf(location));
    listeners.add(update);
    window.addEventListener("popstate", update);
    return () => {
      listeners.delete(update);
      window.removeEventListener("popstate", update);
    };
  }, []);
  return place;
}

/** Lets links to the page's own views change the view without a load. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (link.pathname !== BASE && !link.pathname.startsWith(`${BASE}/`)) return;
  event.preventDefault();
  go(link.pathname + link.search);
  window.scrollTo(0, 0);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
