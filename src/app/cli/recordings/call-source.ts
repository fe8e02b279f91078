/** Where `goblin calls` finds calls: in a running gateway, or in a recording. */
import type { CallDetails } from "../../../admin/api/live/schema.ts";
import { adminRoutes } from "../../../admin/api/routes.ts";
import type { CallRow } from "../../../admin/api/schema.ts";
import { type AdminClient, AdminClientError } from "../../../admin/tui/client.ts";
import { memberText } from "../../../lib/json/json-text.ts";
import { recordOf } from "../../../lib/structures/record.ts";
import { type Exchange, exchangesOf } from "../../../observe/recording/exchanges.ts";
import type { Frame } from "../../../observe/recording/frame.ts";
import { framesOf } from "../../../observe/recording/read.ts";
import { rootOf } from "../gateway/find-gateway.ts";

export interface FullCall {
  readonly row: CallRow;
  /** JSON-RPC messages as text; null if they are not kept. */
  readonly request: string | null;
  readonly answer: string | null;
  /** Whether secrets in the request are masked. */
  readonly isMasked: boolean;
  readonly notifications: readonly unknown[];
  readonly timing?: CallDetails["timing"] | undefined;
}

export interface CallSource {
  /** The address that such requests are sent to. */
  readonly endpoint: string;
  /** The API that can make them again. */
  readonly api: { readonly url: string; readonly hasToken: boolean };
  /** Oldest first. */
  list(): Promise<readonly CallRow[]>;
  /** Undefined: it is not kept; the reason is in the error, if there is one. */
  find(id: string): Promise<FullCall>;
}

export async function runningSource(admin: AdminClient, hasToken: boolean): Promise<CallSource> {
  const { endpoint } = await admin.request(adminRoutes.getState);
  return {
    endpoint: endpoint || `${admin.url}/mcp`,
    api: { url: admin.url, hasToken },
    list: async () => (await admin.request(adminRoutes.listCalls)).items,
    async find(id) {
      const params = { id };
      const [details, text] = await Promise.all([
        admin.request(adminRoutes.getCall, { params }),
        admin.request(adminRoutes.getCallText, { params }),
      ]);
      const { timing, notifications, ...row } = details;
      return { row, ...text, isMasked: details.paramsMasked, notifications, timing };
    },
  };
}

/** Whether an error says that a call is not kept any more. */
export function isGone(error: unknown): boolean {
  return error instanceof AdminClientError && error.code === "CALL_NOT_FOUND";
}

/** `url`: the gateway that can make the calls again. */
export function recordedSource(path: string, url = "http://127.0.0.1:3000"): CallSource {
  const root = rootOf(url);
  const calls = new Map<string, FullCall>();
  const frames = [...framesOf(path)];
  const atServers = exchangesAtServers(frames);
  for (const exchange of exchangesOf(frames)) {
    const call = callOf(exchange);
    const { requestId } = call.row;
    calls.set(requestId, { ...call, timing: timingOf(exchange, atServers.get(requestId) ?? []) });
  }
  return {
    endpoint: `${root}/mcp`,
    api: { url: root, hasToken: false },
    list: async () => [...calls.values()].map(({ row }) => row).sort((one, other) => one.time - other.time),
    async find(id) {
      const call = calls.get(id);
      if (call) return call;
      throw new Error(`there is no call "${id}" in ${path}; goblin calls --from ${path} lists them`);
    },
  };
}

/** Maps each call's id to what was asked of servers for it, oldest first. */
function exchangesAtServers(frames: readonly Frame[]): Map<string, Exchange[]> {
  const found = new Map<string, Exchange[]>();
  const servers = new Set(frames.flatMap(({ side, server }) => (side === "server" && server) || []));
  for (const exchange of [...servers].flatMap((server) => exchangesOf(frames, server))) {
    const { call } = exchange.request;
    if (call !== undefined) found.set(call, [...(found.get(call) ?? []), exchange]);
  }
  for (const exchanges of found.values()) exchanges.sort((one, other) => one.request.t - other.request.t);
  return found;
}

/** Returns where the time of a call went, if its messages with the server were recorded. */
function timingOf({ request, end }: Exchange, atServers: readonly Exchange[]): CallDetails["timing"] | undefined {
  const sent = atServers[0]?.request.t;
  const answered = atServers.at(-1)?.end?.t;
  if (sent === undefined || answered === undefined || end?.ms === undefined) return undefined;
  const beforeMs = Math.max(0, sent - request.t);
  const serverMs = Math.max(0, answered - sent);
  return { beforeMs, serverMs, afterMs: Math.max(0, end.ms - beforeMs - serverMs) };
}

function callOf({ method, params, answer, ok, notifications, request, end, isMasked }: Exchange): FullCall {
  const given = recordOf(JSON.parse(params));
  const name = typeof given["name"] === "string" ? given["name"] : given["uri"];
  const ms = end?.ms ?? 0;
  const code = ok || answer === undefined ? undefined : memberText(answer, "code");
  return {
    row: {
      time: end?.t ?? request.t,
      method,
      name: typeof name === "string" ? name : null,
      serverId: end?.server ?? request.server ?? null,
      ms,
      // A call that has no end was under way when the recording ended.
      outcome: (end?.outcome ?? "cancelled") as CallRow["outcome"],
      client: request.client ?? null,
      who: request.who ?? null,
      profile: null,
      code: code === undefined ? null : Number(code),
      requestId: request.call ?? "",
    },
    request: request.message ?? null,
    answer: end?.message ?? null,
    isMasked: isMasked.request,
    notifications: notifications.map((one) => JSON.parse(one) as unknown),
  };
}
