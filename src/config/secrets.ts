/**
 * The values in a server's config that nobody but that server should see: environment, headers, the parts of its URL that may
 * hold a key, and its arguments.
 */
import type { ServerTransport } from "./server.ts";

export function secretsOf(transport: ServerTransport): string[] {
  if (transport.kind === "stdio") {
    // A secret argument stands alone or behind "=", as in --token=…
    return [
      ...Object.values(transport.env),
      ...transport.args.flatMap((arg) => [arg, arg.slice(arg.indexOf("=") + 1)]),
    ];
  }
  const headers = Object.values(transport.headers).flatMap((value) => [value, value.slice(value.indexOf(" ") + 1)]);
  return [...headers, ...urlSecrets(transport.url)];
}

function urlSecrets(text: string): string[] {
  if (!URL.canParse(text)) return [text];
  const url = new URL(text);
  const values = [...url.searchParams.values()];
  const segments = url.pathname.split("/");
  return [url.pathname + url.search, url.search.slice(1), url.username, url.password, ...values, ...segments].filter(
    (part) => part !== "/",
  );
}
