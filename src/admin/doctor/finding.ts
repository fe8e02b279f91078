/** What an examination found: what is wrong, where, and what to do about it. */

/** note: good to know. warning: something may not work. error: something does not work. */
export type Level = "ok" | "note" | "warning" | "error";

export interface Finding {
  readonly level: Level;
  /** Stable, for programs: `program_missing`. */
  readonly code: string;
  /** The server, the client, the file or the address. */
  readonly where: string;
  readonly what: string;
  readonly remedy?: string | undefined;
  /** Does what is safe, and says what it did. Rejects if it could not. */
  readonly fix?: (() => Promise<string>) | undefined;
  /** The lines that `fix` will change in a file. */
  readonly changes?: readonly string[] | undefined;
}

/** Findings about one thing. */
export interface Section {
  readonly title: string;
  readonly findings: readonly Finding[];
}

/** Lists the first few, and says how many more there are. */
export function few(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
