/**
 * The values of a config that must not appear in a log: environments, headers, tokens, and the parts of a URL that hold a key. Arguments are
 * not among them: they are paths and flags, and hiding those would make a log useless.
 */
import type { Config } from "./schema.ts";

/** A shorter value is an ordinary word, which would be blotted out everywhere. */
const LEAST_LENGTH = 6;

export function logSecrets({ servers, gateway }: Pick<Config, "servers" | "gateway">): string[] {
  const found: string[] = [...gateway.auth.tokens];
  for (const { transport } of servers) {
    if (transport.kind === "stdio") found.push(...Object.values(transport.env));
    else found.push(...Object.values(transport.headers).flatMap(headerSecrets), ...urlSecrets(transport.url));
  }
  return [...new Set(found)].filter((value) => value.length >= LEAST_LENGTH);
}

/** `Bearer abc` is secret as a whole and without its first word. */
function headerSecrets(value: string): string[] {
  return [value, value.slice(value.indexOf(" ") + 1)];
}

function urlSecrets(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { password, searchParams } = new URL(text);
  return [password, ...searchParams.values()];
}
