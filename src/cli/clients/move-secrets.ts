/** Moves the plain secrets of imported servers into the user's store. */
import type { Import } from "../../clients/importing.ts";
import { plainSecrets, withReferences } from "../../clients/plain-secrets.ts";
import { SecretStore } from "../../secrets/secret-store.ts";

export interface Moved {
  readonly servers: readonly Import[];
  readonly count: number;
  /** Where they are now, in words. */
  readonly place: string;
}

/** A secret that has its name already is not replaced by another one. */
export async function moveSecrets(servers: readonly Import[]): Promise<Moved> {
  const store = await SecretStore.open(process.env);
  const names = new Map<string, string>();
  for (const { name: server, entry } of servers) {
    for (const { name, value } of plainSecrets(server, entry)) {
      let free = name;
      for (let n = 2; ![undefined, value].includes(await store.get(free)); n++) free = `${name}-${n}`;
      await store.set(free, value);
      names.set(name, free);
    }
  }
  return {
    servers: servers.map((server) => ({
      ...server,
      entry: withReferences(server.name, server.entry, ({ name }) => names.get(name) ?? name),
    })),
    count: names.size,
    place: store.place,
  };
}
