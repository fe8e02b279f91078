/** Where a server comes from, as the lock file says it: without paths, arguments and secrets. */

/** A package of a registry, an address, or a program of this machine. */
export interface Source {
  readonly npm?: string | undefined;
  readonly pypi?: string | undefined;
  readonly oci?: string | undefined;
  readonly url?: string | undefined;
  readonly command?: string | undefined;
  readonly version?: string | undefined;
  /** As the package manager has it. */
  readonly integrity?: string | undefined;
}

export const sourceKeys = ["npm", "pypi", "oci", "url", "command", "version", "integrity"] as const;

/** What a source is called, without its version. */
export function originOf({ npm, pypi, oci, url, command }: Source): string {
  const [kind, name] = Object.entries({ npm, pypi, oci, url, command }).find(([, value]) => value !== undefined) ?? [];
  return kind === undefined ? "unknown" : `${kind} ${name}`;
}
