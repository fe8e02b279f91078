/**
 * What the wizard is about to write: secrets, goblin.json and the clients' entries, as one entry of
 * the journal that `goblin undo` takes back.
 *
 * Invariant: everything is planned before anything is written, and a signal waits until all is
 * written.
 */

import { withValue } from "../../../config/editing/edit.ts";
import { parseConfig } from "../../../config/reading/parse.ts";
import type { KnownClient } from "../../clients/client.ts";
import { readState } from "../../clients/files.ts";
import type { Import } from "../../clients/importing.ts";
import { Journal } from "../../clients/journal.ts";
import { type Applied, apply, type LinkResult, planLink } from "../../clients/linking.ts";
import { OWN_FILE } from "../clients/import.ts";
import { linksFor, thisMachine } from "../clients/machine.ts";
import { type MovedSecrets, planSecrets } from "../clients/move-secrets.ts";
import type { Candidate } from "./survey.ts";

export interface Wanted {
  /** The config to write. */
  readonly file: string;
  readonly servers: readonly Candidate[];
  readonly movesSecrets: boolean;
  readonly clients: readonly KnownClient[];
  /** The clients' own entries that go, because Goblin has their servers now. */
  readonly replaced: readonly Import[];
  /** Undefined: the usual one. */
  readonly port: number | undefined;
}

export interface Setup {
  readonly file: string;
  readonly port: number | undefined;
  readonly text: string;
  readonly outcomes: readonly LinkResult[];
  readonly moved: MovedSecrets | undefined;
}

/** Plans all of it. @throws ConfigError if the result would not be a config */
export async function planSetup({ file, servers, movesSecrets, clients, replaced, port }: Wanted): Promise<Setup> {
  const moved = movesSecrets ? await planSecrets(servers) : undefined;
  const start = '{\n  "mcpServers": {},\n  "names": { "repeatPrefix": false }\n}\n';
  const withPort = port === undefined ? start : withValue(start, ["gateway"], { port });
  const text = (moved?.servers ?? servers).reduce(
    (body, { name, entry }) => withValue(body, ["mcpServers", name], entry),
    withPort,
  );
  const { config } = parseConfig(text, { file, env: process.env });
  const { chosen: links } = linksFor({ config, file });
  const planned = clients.map((client) =>
    planLink(client, thisMachine(), {
      scope: "user",
      links,
      mode: undefined,
      without: replaced.filter((one) => one.client === client).map(({ written }) => written),
    }),
  );
  return { file, port, text, moved, outcomes: (await Promise.all(planned)).filter((outcome) => outcome !== undefined) };
}

/** Writes all of it. */
export async function writeSetup({ file, text, outcomes, moved }: Setup): Promise<Applied> {
  const before = await readState(file);
  const own = { client: OWN_FILE, file, before, after: Buffer.from(text) };
  const plans = outcomes.flatMap((outcome) => (outcome.state === "planned" ? outcome.plan : []));
  const release = holdSignals();
  try {
    const made = { command: "", secrets: moved?.added ?? [], first: async () => moved?.keep() };
    return await apply(made, [own, ...plans], new Journal(process.env));
  } finally {
    release();
  }
}

/** Delays ctrl-c and the like until the function that it returns is called. */
function holdSignals(): () => void {
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  let held: NodeJS.Signals | undefined;
  const hold = (name: NodeJS.Signals): void => {
    held = name;
  };
  for (const name of names) process.on(name, hold);
  return () => {
    for (const name of names) process.off(name, hold);
    if (held) process.kill(process.pid, held);
  };
}
