/**
 * What `goblin` does on a terminal without a config: finds the servers of the MCP clients here,
 * takes them over, puts itself in their place, and shows the dashboard.
 *
 * Invariant: nothing is written before the last question is answered; then all of it is, and
 * `goblin undo` takes all of it back. A server that fails, one that needs a login and a port in use
 * are said, and it goes on.
 */
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { shorten } from "../../../lib/text/width.ts";
import type { KnownClient } from "../../clients/client.ts";
import { readState } from "../../clients/files.ts";
import { fileOf } from "../../clients/linking.ts";
import { plainSecrets } from "../../clients/plain-secrets.ts";
import type { Gateway } from "../../gateway.ts";
import { type Handshake, tryEntries } from "../clients/handshake.ts";
import { namedClients, ownConfig, thisMachine } from "../clients/machine.ts";
import { undo } from "../clients/undo.ts";
import { serve } from "../commands/serve.ts";
import { namedAddress } from "../environment.ts";
import { startingServers } from "../gateway/target.ts";
import { counted } from "../terminal/counted.ts";
import { createStatusLine } from "../terminal/status-line.ts";
import { Cancelled, openPrompts, type Prompts } from "./prompts.ts";
import { planSetup, type Setup, type Wanted, writeSetup } from "./setup.ts";
import { type Candidate, findImports, isFailing, listed, type Survey, summary, survey } from "./survey.ts";

const USUAL_PORT = 3000;
const AGAIN_MS = 200;
const INTERRUPTED = 130;
const MAX_REASON_LENGTH = 160;

export async function wizard(): Promise<number> {
  const prompts = await openPrompts();
  try {
    return await lead(prompts);
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    prompts.end("Nothing was changed.");
    return INTERRUPTED;
  }
}

async function lead(prompts: Prompts): Promise<number> {
  prompts.begin("Goblin: one MCP endpoint in front of all your MCP servers");
  const { imports, problems } = await findImports();
  for (const { client, file, reason } of problems) prompts.warn(`${client.title} is left out: ${reason} (${file})`);
  const found = await survey(imports, problems);
  if (found.candidates.length === 0) {
    const answer = await prompts.one("No MCP client on this machine has a server.", [
      { value: "demo", label: "Look at Goblin with its demo servers" },
      { value: "empty", label: "Begin with an empty config", hint: "goblin add puts servers into it" },
    ]);
    if (answer === "demo") return serve({ tui: true, port: await freePortFor(prompts) });
  } else tell(found, prompts);
  const wanted = await ask(found, prompts);
  const setup = await planSetup(wanted);
  for (const outcome of setup.outcomes) {
    if (outcome.state === "refused")
      prompts.warn(`${outcome.client.title} is left alone: ${outcome.reason} (${outcome.file})`);
  }
  const planned = setup.outcomes.filter(({ state }) => state === "planned");
  const change = planned.length === 0 ? "" : ` and change ${listed(planned.map(({ client }) => client.title))}`;
  if (!(await prompts.confirm(`Write ${wanted.file}${change}? goblin undo takes it back.`))) throw new Cancelled();
  return carryOut(setup, prompts);
}

function tell(found: Survey, prompts: Prompts): void {
  const reasons = found.candidates.flatMap((one) => {
    if (one.server === "needs-login") return [`${one.name}: needs a login (goblin login ${one.name})`];
    if (!isFailing(one)) return [];
    return [`${one.name}: fails, because ${shorten(one.reason ?? "it does not answer", MAX_REASON_LENGTH)}`];
  });
  prompts.say([summary(found), ...reasons].join("\n"));
}

async function ask(found: Survey, prompts: Prompts): Promise<Wanted> {
  const { candidates } = found;
  const usual = candidates.filter((one) => !isFailing(one)).map(({ name }) => name);
  const names =
    candidates.length === 0
      ? []
      : await prompts.many("Which servers shall Goblin take over?", candidates.map(choiceOf), usual);
  const servers = candidates.filter(({ name }) => names.includes(name));
  const plain = servers.flatMap(({ name, entry }) => plainSecrets(name, entry)).length;
  const movesSecrets =
    plain > 0 &&
    (await prompts.confirm(`Keep ${counted(plain, "secret")} in your store, and only their names in goblin.json?`));
  const here = await clientsHere();
  const ids =
    here.length === 0
      ? []
      : await prompts.many(
          "Which clients shall use Goblin?",
          here.map(({ id, title }) => ({ value: id, label: title })),
          here.map(({ id }) => id),
        );
  const clients = here.filter(({ id }) => ids.includes(id));
  const double = found.imports.filter(
    ({ client, name, same = name }) => clients.includes(client) && names.includes(same),
  );
  const isReplaced =
    double.length > 0 &&
    (await prompts.confirm("Take these servers out of the clients' own lists, so that none runs twice?"));
  const port = await freePortFor(prompts);
  return {
    file: ownConfig(undefined),
    servers,
    movesSecrets,
    clients,
    replaced: isReplaced ? double : [],
    port,
  };
}

function choiceOf(one: Candidate): { value: string; label: string; hint: string } {
  const state = isFailing(one) ? "fails" : one.server === "needs-login" ? "needs a login" : counted(one.tools, "tool");
  return { value: one.name, label: one.name, hint: `${one.client.title}, ${state}` };
}

async function carryOut(setup: Setup, prompts: Prompts): Promise<number> {
  const { id, failures } = await writeSetup(setup);
  for (const { plan, reason } of failures) prompts.warn(`${plan.client.title} is left alone: ${reason} (${plan.file})`);
  if (failures.some(({ plan }) => plan.file === setup.file)) {
    // Clients must not lead to a gateway without a config.
    await undo(id, {});
    return 1;
  }
  const left = failures.map(({ plan }) => plan.file);
  const linked = setup.outcomes.filter(({ state, file }) => state !== "refused" && !left.includes(file));
  const code = await serve({
    config: setup.file,
    port: setup.port,
    tui: true,
    async listening(servers) {
      const tried = await tryAll(linked, servers);
      prompts.say(tried.map(({ client, handshakes }) => describe(client, handshakes)).join("\n"));
      prompts.end("Everything is set up. To take all of it back: goblin undo");
    },
  });
  console.log("The gateway stopped with its dashboard. To run it: goblin serve. To take all back: goblin undo");
  return code;
}

interface Tried {
  readonly client: KnownClient;
  readonly handshakes: readonly Handshake[];
}

async function tryAll(
  linked: readonly { readonly client: KnownClient; readonly file: string }[],
  servers: Gateway["servers"],
): Promise<Tried[]> {
  const line = createStatusLine();
  const waiting = (): string[] => startingServers(servers);
  line.spin(() => (waiting().length > 0 ? `waiting for ${waiting().join("; ")}` : "trying what the clients have now"));
  const expectsTools = servers.ids().length > 0;
  try {
    while (waiting().length > 0) await sleep(AGAIN_MS);
    return await Promise.all(
      linked.map(async ({ client, file }) => ({
        client,
        handshakes: await tryEntries(client, file, { expectsTools }),
      })),
    );
  } finally {
    line.clear();
  }
}

function describe({ title }: KnownClient, handshakes: readonly Handshake[]): string {
  const words = handshakes.map(({ tools, reason }) =>
    tools === undefined ? `does not work yet: ${reason}` : `works, with ${counted(tools, "tool")}`,
  );
  return `${title} ${words.join(", ") || "has no entry"}`;
}

/** The clients that have settings on this machine. */
async function clientsHere(): Promise<KnownClient[]> {
  const machine = thisMachine();
  const there = await Promise.all(
    namedClients([]).map(async (client) => {
      const file = await fileOf(client, machine, "user");
      return file !== undefined && (await readState(file).catch(() => true)) ? client : undefined;
    }),
  );
  return there.filter((client) => client !== undefined);
}

/** Returns the port to write down, if it is not the usual one. Says so if that is taken. */
async function freePortFor(prompts: Prompts): Promise<number | undefined> {
  const { host = "127.0.0.1", port = USUAL_PORT } = namedAddress({}, process.env);
  if (port === 0) return undefined;
  if ((await portAt(host, port)) !== undefined) return port === USUAL_PORT ? undefined : port;
  for (let next = port + 1; next < port + 100; next++) {
    if ((await portAt(host, next)) === undefined) continue;
    prompts.warn(`Port ${port} is in use. Goblin takes ${next}.`);
    return next;
  }
  return portAt(host, 0);
}

/** Returns the port if one can listen there. */
function portAt(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen({ host, port, exclusive: true }, () => {
      const { port: own } = server.address() as { port: number };
      server.close(() => resolve(own));
    });
  });
}
