/**
 * What a running gateway knows about a tool, a prompt or a URI, without a config at hand: owner,
 * original name, whether it is listed, its timeout and where that comes from, the server's state,
 * tokens and the last errors.
 */
import { adminRoutes } from "../../admin/routes.ts";
import { recordOf } from "../../structures/record.ts";
import { clean } from "../../text/clean.ts";
import type { Target } from "../gateway/target.ts";
import { noSuch } from "../suggest.ts";
import { printJson } from "../terminal/table.ts";

interface Entry {
  readonly kind: "tool" | "prompt" | "resource" | "template";
  readonly name: string;
  readonly original: string;
  readonly server: string;
  /** Undefined: this kind is always listed. */
  readonly listed?: boolean;
  readonly tokens?: number;
  readonly calls?: number;
  readonly errors?: number;
}

const LAST_ERRORS = 3;

/** Prints the facts. Returns 0 if the server can be used, 1 if not. */
export async function explainByGateway(written: string, target: Target, json: boolean): Promise<number> {
  const entries = await entriesOf(target);
  const found = entries.find(({ name, original, server }) => [name, `${server}/${original}`].includes(written));
  const entry = found ?? entries.find(({ original }) => original === written);
  if (!entry) {
    const known = entries.map(({ name }) => name);
    throw noSuch({ kind: "tool", name: written, known, otherwise: "goblin list shows what there is" });
  }
  const [{ items: servers }, { items: calls }, config] = await Promise.all([
    target.request(adminRoutes.listServers),
    target.request(adminRoutes.listCalls),
    target.request(adminRoutes.getConfig),
  ]);
  const server = servers.find(({ id }) => id === entry.server);
  const lastErrors = calls
    .filter(({ name, outcome }) => name === entry.name && outcome !== "ok")
    .slice(-LAST_ERRORS)
    .map(({ time, code, outcome }) => ({ at: new Date(time).toISOString(), code: code ?? outcome }));
  const state = server?.state ?? "unknown";
  const facts = { ...entry, state, reason: server?.reason ?? null, timeout: timeoutOf(entry, config), lastErrors };
  if (json) printJson(facts);
  else for (const line of linesOf(facts)) console.log(clean(line));
  return state === "ready" || state === "degraded" ? 0 : 1;
}

async function entriesOf(target: Target): Promise<Entry[]> {
  const [tools, prompts, resources, templates] = await Promise.all([
    target.request(adminRoutes.listTools),
    target.request(adminRoutes.listPrompts),
    target.request(adminRoutes.listResources),
    target.request(adminRoutes.listTemplates),
  ]);
  return [
    ...tools.items.map(({ name, originalName, serverId, listed, tokens, calls, errors }): Entry => {
      return { kind: "tool", name, original: originalName, server: serverId, listed, tokens, calls, errors };
    }),
    ...prompts.items.map(({ name, originalName, serverId, calls, errors }): Entry => {
      return { kind: "prompt", name, original: originalName, server: serverId, calls, errors };
    }),
    ...resources.items.map(({ uri, originalUri, serverId }): Entry => {
      return { kind: "resource", name: uri, original: originalUri, server: serverId };
    }),
    ...templates.items.map(({ uriTemplate, originalUriTemplate, serverId }): Entry => {
      return { kind: "template", name: uriTemplate, original: originalUriTemplate, server: serverId };
    }),
  ];
}

interface Timeout {
  readonly ms: number | null;
  /** The key of the config that it comes from. */
  readonly from: string;
}

function timeoutOf({ kind, original, server }: Entry, config: Readonly<Record<string, unknown>>): Timeout {
  const own = recordOf(recordOf(config["mcpServers"])[server]);
  const override = kind === "tool" ? recordOf(recordOf(recordOf(own["tools"])["overrides"])[original]) : {};
  const places: readonly (readonly [unknown, string])[] = [
    [override["timeoutMs"], `mcpServers.${server}.tools.overrides.${original}.timeoutMs`],
    [own["timeoutMs"], `mcpServers.${server}.timeoutMs`],
    [recordOf(config["timeouts"])["callMs"], "timeouts.callMs"],
  ];
  for (const [ms, from] of places) if (typeof ms === "number") return { ms, from };
  return { ms: null, from: "timeouts.callMs" };
}

interface Facts extends Entry {
  readonly state: string;
  readonly reason: string | null;
  readonly timeout: Timeout;
  readonly lastErrors: readonly { readonly at: string; readonly code: string | number }[];
}

function* linesOf(facts: Facts): Generator<string> {
  const { kind, name, original, server, listed, tokens, calls, errors, state, reason, timeout, lastErrors } = facts;
  yield `${kind.padEnd(8)} ${original} of ${server}, as clients name it: ${name}`;
  if (listed !== undefined) yield `listed   ${listed ? "yes" : "no: clients find it by search (tools.expose)"}`;
  if (tokens !== undefined) yield `tokens   ${tokens}`;
  yield `server   ${state}${reason === null ? "" : `: ${reason}`}`;
  yield `timeout  ${timeout.ms ?? "?"} ms, by ${timeout.from}`;
  if (calls !== undefined) yield `calls    ${calls}, ${errors} failed`;
  for (const { at, code } of lastErrors) yield `error    ${code} at ${at}`;
  yield "rules    name the config with --config to see which rules decide";
}
