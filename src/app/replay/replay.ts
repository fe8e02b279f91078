/**
 * A recording as an MCP server: takes one message and gives the messages that answer it.
 *
 * What was recorded is answered as it was. Lists that nobody asked for come from the index. It
 * keeps nothing of its clients, so one replay can serve several.
 */
import { elementSpans, memberText } from "../../lib/json/json-text.ts";
import { version } from "../../lib/package/version.ts";
import { isRecord, recordOf } from "../../lib/structures/record.ts";
import { legacyVersions } from "../../mcp/protocol/envelope.ts";
import { errorTable } from "../../mcp/protocol/errors.ts";
import { listMethods } from "../../mcp/protocol/methods.ts";
import { exchangesOf } from "../../observe/recording/exchanges.ts";
import { framesOf, type Index, indexOf, type Offers } from "../../observe/recording/read.ts";
import { Answers, type RecordedAnswer } from "./answers.ts";

export interface ReplayOptions {
  /** Answer as this server did; undefined: as the gateway did. */
  readonly server?: string | undefined;
  /** Called with each request that has no recorded answer. */
  readonly onMiss?: ((message: string) => void) | undefined;
}

export class Replay {
  readonly answers: Answers;
  readonly #index: Index;
  readonly #offers: Offers;
  readonly #options: ReplayOptions;

  /** `path`: see `segmentsOf`. */
  constructor(path: string, options: ReplayOptions = {}) {
    const { server } = options;
    this.#options = options;
    this.answers = new Answers(exchangesOf(framesOf(path), server));
    this.#index = indexOf(path);
    const known = Object.keys(this.#index.servers ?? {});
    if (server !== undefined && this.answers.size === 0 && !known.includes(server)) {
      throw new Error(`${path} has nothing of a server "${server}"; it has ${known.join(", ") || "none"}`);
    }
    this.#offers = (server === undefined ? this.#index.gateway : this.#index.servers?.[server]) ?? {};
  }

  /** Returns the messages that answer a message, the answer last. None for a notification. */
  receive(text: string): string[] {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return [fault("null", errorTable.PARSE_ERROR.rpc, "Parse error: the message is not JSON")];
    }
    if (Array.isArray(message)) {
      return elementSpans(text, 0).flatMap(({ start, end }) => this.receive(text.slice(start, end)));
    }
    const id = memberText(text, "id");
    if (!isRecord(message) || typeof message["method"] !== "string") {
      return id === undefined ? [fault("null", errorTable.INVALID_REQUEST.rpc, "Invalid request")] : [];
    }
    if (id === undefined) return [];
    const { method } = message;
    const params = recordOf(message["params"]);
    const { ok, raw, notifications } = this.#answer(method, params);
    const token = recordOf(params["_meta"])["progressToken"];
    const answer = `{"jsonrpc":"2.0","id":${id},"${ok ? "result" : "error"}":${raw}}`;
    return [...notifications.flatMap((one) => withToken(one, token)), answer];
  }

  #answer(method: string, params: Readonly<Record<string, unknown>>): RecordedAnswer {
    if (method === "initialize") return found(this.#introduction(params));
    if (method === "ping") return found("{}");
    const recorded = this.answers.find(method, params);
    if (recorded) return recorded;
    const list = listMethods.get(method);
    if (list && params["cursor"] === undefined) {
      const { server } = this.#options;
      const offers =
        server === undefined
          ? memberText(this.#index.text, "gateway")
          : memberText(memberText(this.#index.text, "servers") ?? "{}", server);
      return found(`{"${list.member}":${memberText(offers ?? "{}", list.kind) ?? "[]"}}`);
    }
    if (method === "logging/setLevel") return found("{}");
    const miss = this.answers.miss(method, params);
    this.#options.onMiss?.(String((JSON.parse(miss.raw) as { message: unknown }).message));
    return miss;
  }

  #introduction(params: Readonly<Record<string, unknown>>): string {
    const wanted = params["protocolVersion"];
    const info = recordOf(this.#offers.info);
    const offered = (kind: keyof Offers, method: string): boolean =>
      ((this.#offers[kind] as readonly unknown[] | undefined)?.length ?? 0) > 0 || this.answers.has(method);
    const derived = {
      ...(offered("tools", "tools/call") && { tools: {} }),
      ...(offered("prompts", "prompts/get") && { prompts: {} }),
      ...((offered("resources", "resources/read") || offered("templates", "resources/templates/list")) && {
        resources: {},
      }),
      ...(this.answers.has("completion/complete") && { completions: {} }),
      logging: {},
    };
    return JSON.stringify({
      protocolVersion: legacyVersions.find((known) => known === wanted) ?? legacyVersions[0],
      capabilities: info["capabilities"] ?? derived,
      serverInfo: info["serverInfo"] ?? { name: "goblin-replay", version },
      instructions: info["instructions"],
    });
  }
}

function found(raw: string): RecordedAnswer {
  return { ok: true, raw, notifications: [] };
}

function fault(id: string, code: number, message: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message })}}`;
}

/** Progress goes to those that asked for it, under their own token. */
function withToken(notification: string, token: unknown): string[] {
  const message = recordOf(JSON.parse(notification));
  if (message["method"] !== "notifications/progress") return [notification];
  if (token === undefined) return [];
  return [JSON.stringify({ ...message, params: { ...recordOf(message["params"]), progressToken: token } })];
}
