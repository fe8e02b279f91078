/** Which MCP clients use the gateway, and whose entry somebody changed. */

import { type Finding, few, type Section } from "../../../admin/doctor/finding.ts";
import { isRecord } from "../../../lib/structures/record.ts";
import { readServers } from "../../clients/edit/editor.ts";
import { readState, textOf } from "../../clients/files.ts";
import { Journal } from "../../clients/journal.ts";
import { apply, type ClientState, OWN_NAME, planLink } from "../../clients/linking.ts";
import { clientStates } from "../clients/list.ts";
import { type Links, linkTo, thisMachine } from "../clients/machine.ts";

export async function clientSection(options: { readonly config: string | undefined }): Promise<Section> {
  const links = await linkTo(options);
  const states = await clientStates(links.all);
  const findings = states.flatMap((state) => findingOf(state, links) ?? []);
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

function findingOf(state: ClientState, links: Links): Finding | undefined {
  const { client, file, scope, reason } = state;
  if (state.state === "unreadable") {
    const what = `${client.title}: ${reason}`;
    return {
      level: "warning",
      code: "client_unreadable",
      where: file,
      what,
      remedy: "mend the file; Goblin leaves it alone",
    };
  }
  if (state.state !== "drifted") return undefined;
  return {
    level: "warning",
    code: "client_drifted",
    where: file,
    what: `${client.title}: somebody changed the gateway's entry, or the gateway has another address now`,
    remedy: `goblin install ${client.id}${scope === "project" ? " --project" : ""}`,
    fix: () => relink(state, links),
  };
}

/** Writes the entries again, in the form that they have. */
async function relink({ client, file, scope }: ClientState, { chosen, all }: Links): Promise<string> {
  const before = await readState(file);
  const entries = before ? await readServers(textOf(before), client) : new Map<string, unknown>();
  const ofServers = entries.has(OWN_NAME) ? [] : all.filter(({ name }) => entries.has(name));
  const links = ofServers.length > 0 ? ofServers : chosen;
  const entry = entries.get(links[0]?.name ?? OWN_NAME);
  const startsProgram = isRecord(entry) && (entry["command"] !== undefined || entry["cmd"] !== undefined);
  const mode = startsProgram ? "stdio" : undefined;
  const outcome = await planLink(client, thisMachine(), { scope, links, mode });
  if (outcome?.state !== "planned")
    throw new Error(outcome?.state === "refused" ? outcome.reason : "nothing to change");
  const { id, failures } = await apply({ command: "doctor --fix" }, [outcome.plan], new Journal(process.env));
  if (failures[0]) throw new Error(failures[0].reason);
  return `wrote the entry again (to take it back: goblin undo ${id})`;
}
