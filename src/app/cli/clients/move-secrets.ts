/** Moves the plain secrets of imported servers into the user's store. */

import { SecretStore } from "../../../auth/secrets/secret-store.ts";
import type { Import } from "../../clients/importing.ts";
import { plainSecrets, withReferences } from "../../clients/plain-secrets.ts";

export interface MovedSecrets {
  /** The servers, with references in place of the secrets. */
  readonly servers: readonly Import[];
  readonly count: number;
  /** The names that are new in the store. */
  readonly added: readonly string[];
  /** Where they will be, in words. */
  readonly place: string;
  /** Writes the secrets: all of them, or none. */
  keep(): Promise<void>;
}

/**
 * Plans where each secret goes; nothing is written. A secret that has its name already is not
 * replaced by another one.
 */
export async function planSecrets(servers: readonly Import[]): Promise<MovedSecrets> {
  const store = await SecretStore.open(process.env);
  const names = new Map<string, string>();
  const added = new Map<string, string>();
  for (const { name: server, entry } of servers) {
    for (const { name, value } of plainSecrets(server, entry)) {
      const known = async (free: string): Promise<string | undefined> => added.get(free) ?? (await store.get(free));
      let free = name;
      for (let n = 2; ![undefined, value].includes(await known(free)); n++) free = `${name}-${n}`;
      if ((await known(free)) === undefined) added.set(free, value);
      names.set(name, free);
    }
  }
  return {
    servers: servers.map((server) => ({
      ...server,
      entry: withReferences(server.name, server.entry, ({ name }) => names.get(name) ?? name),
    })),
    count: names.size,
    added: [...added.keys()],
    place: store.place,
    async keep() {
      const done: string[] = [];
      try {
        for (const [name, value] of added) {
          await store.set(name, value);
          done.push(name);
        }
      } catch (error) {
        for (const name of done) await store.remove(name).catch(() => false);
        throw error;
      }
    },
  };
}
