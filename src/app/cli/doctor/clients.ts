/**
 * Which MCP clients use the gateway, and whose entry leads elsewhere.
 *
 * Invariant: a fix changes no entry that works, and writes none that leads to a port where no
 * gateway answers. All fixes are one change in the journal.
 */
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { type Finding, few, type Section } from "../../../admin/doctor/finding.ts";
import type { SettingsEntry } from "../../clients/client.ts";
import { readState, textOf } from "../../clients/files.ts";
import { entriesIn } from "../../clients/foreign-entry.ts";
import { Journal } from "../../clients/journal.ts";
import { lineDiff } from "../../clients/line-diff.ts";
import {
  type Applied,
  apply,
  type ClientState,
  isOwnEntry,
  OWN_NAME,
  type Planned,
  planLink,
} from "../../clients/linking.ts";
import { isAnswered } from "../clients/handshake.ts";
import { clientStates } from "../clients/list.ts";
import { type Links, linkTo, thisMachine } from "../clients/machine.ts";

export async function clientSection(options: { readonly config: string | undefined }): Promise<Section> {
  const links = await linkTo(options);
  const states = await clientStates(links.all);
  const relinking = new Relinking();
  const found = await Promise.all(states.map((state) => findingOf(state, links, relinking)));
  const findings = found.filter((finding) => finding !== undefined);
  const linked = states.filter(({ state }) => state === "linked").map(({ client }) => client.title);
  const others = states.filter(({ state }) => state === "found").map(({ client }) => client.title);
  const where = "clients";
  if (linked.length > 0)
    findings.push({ level: "ok", code: "clients", where, what: `${few(linked, 30)} use the gateway` });
  if (others.length > 0) {
    const what = `${few(others, 30)} ${others.length === 1 ? "does" : "do"} not use the gateway`;
    findings.push({ level: "note", code: "client_unlinked", where, what, remedy: "goblin install <client>" });
  }
  if (findings.length === 0) {
    findings.push({ level: "note", code: "clients", where, what: "no MCP client was found on this machine" });
  }
  return { title: "Clients", findings };
}

async function findingOf(state: ClientState, links: Links, relinking: Relinking): Promise<Finding | undefined> {
  const { client, file: where, scope, reason } = state;
  if (state.state === "unreadable") {
    const what = `${client.title}: ${reason}`;
    return {
      level: "warning",
      code: "client_unreadable",
      where,
      what,
      remedy: "mend the file; Goblin leaves it alone",
    };
  }
  if (state.state !== "drifted") return undefined;
  const install = `goblin install ${client.id}${scope === "project" ? " --project" : ""}`;
  const entries = await ownEntries(state);
  const working = await workingOf(entries);
  if (working.length > 0) {
    const what = `${client.title} uses another gateway, which works: ${few(working)}`;
    return { level: "note", code: "client_elsewhere", where, what, remedy: `to use this config's gateway: ${install}` };
  }
  const finding = { level: "warning", code: "client_drifted", where } as const;
  const broken = `${client.title}: the gateway's entry leads nowhere`;
  const { links: wanted, mode } = wantedFor(entries, links);
  const target = wanted[0]!.gateway.url;
  // `stdio --attach` starts a gateway by itself.
  if (mode !== "stdio" && !(await isAnswered(target))) {
    const what = `${broken}, and no gateway answers at ${target}`;
    return { ...finding, what, remedy: `start the gateway with goblin serve; if it does not help: ${install}` };
  }
  const outcome = await planLink(client, thisMachine(), { scope, links: wanted, mode });
  if (outcome?.state !== "planned") {
    const why = outcome?.state === "refused" ? `: ${outcome.reason}` : "";
    return { ...finding, what: `${broken}${why}`, remedy: install };
  }
  const { before, after } = outcome.plan;
  const changes = lineDiff(before ? textOf(before) : "", after.toString("utf8"));
  return { ...finding, what: broken, remedy: install, changes, fix: relinking.fixFor(outcome.plan) };
}

type Entries = ReadonlyMap<string, SettingsEntry>;

async function ownEntries({ client, file }: ClientState): Promise<Entries> {
  const found = await readState(file);
  const all = found ? await entriesIn(textOf(found), client, file) : new Map<string, SettingsEntry>();
  return new Map([...all].filter(([name, entry]) => isOwnEntry(name, entry)));
}

/** Returns what works as it is: addresses where a gateway answers, and programs that can start. */
async function workingOf(entries: Entries): Promise<string[]> {
  const working: string[] = [];
  for (const { url, command, args } of entries.values()) {
    if (typeof url === "string") {
      if (await isAnswered(url)) working.push(url);
      continue;
    }
    const words = [command, ...(Array.isArray(args) ? args : [])].map(String);
    // The program, its script and its config; names without a folder are looked up elsewhere.
    if (words.filter((word) => isAbsolute(word)).every((word) => existsSync(word))) working.push(words.join(" "));
  }
  return working;
}

/** The entries in their present form: one or one for each server, over HTTP or started. */
function wantedFor(entries: Entries, { chosen, all }: Links): { links: Links["chosen"]; mode: "stdio" | undefined } {
  const ofServers = entries.has(OWN_NAME) ? [] : all.filter(({ name }) => entries.has(name));
  const links = ofServers.length > 0 ? ofServers : chosen;
  const mode = entries.get(links[0]?.name ?? OWN_NAME)?.["command"] === undefined ? undefined : "stdio";
  return { links, mode };
}

/** Writes the planned entries of all clients at once, so that one undo takes all of them back. */
class Relinking {
  readonly #plans: Planned[] = [];
  #applied: Promise<Applied> | undefined;

  fixFor(plan: Planned): () => Promise<string> {
    this.#plans.push(plan);
    return async () => {
      this.#applied ??= apply({ command: "doctor --fix" }, this.#plans, new Journal(process.env));
      const { id, failures } = await this.#applied;
      const failed = failures.find((failure) => failure.plan === plan);
      if (failed) throw new Error(failed.reason);
      return `wrote the entry again (to undo all entries: goblin undo ${id})`;
    };
  }
}
