/**
 * The client of one request in a version without sessions, as the request describes it. What it
 * says about itself decides nothing that it could gain from: its principal, its account and its
 * place come from the front.
 */
import { createHash } from "node:crypto";
import type { Dialogue } from "../../core/session/dialogue.ts";
import { toDisplayText } from "../../lib/json/json-text.ts";
import type { About, Client } from "../../mcp/protocol/call.ts";
import { CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, metaOf, PROTOCOL_VERSION } from "../../mcp/protocol/envelope.ts";
import { type Answer, failure, type Params } from "../../mcp/protocol/json-rpc.ts";
import { type LogLevel, severity } from "../../mcp/protocol/log-levels.ts";
import { canBeAsked, cannotBeAsked } from "../../mcp/protocol/methods.ts";
import { ownerAt, type Place, type Principal, type Visibility, visibilityAt } from "../../mcp/protocol/principal.ts";

export interface RequestSender {
  readonly principal: Principal;
  readonly place: Place;
  /** The account that the request is counted under. */
  readonly account: string;
  /** The channel of the request, if only one client can write to it. */
  readonly party?: string;
}

let requests = 0;

export class RequestClient implements Client {
  readonly who: Principal;
  readonly key = `request:${++requests}`;
  readonly hasSession = false;
  readonly party: string;
  readonly account: string;
  readonly meter: string;
  readonly principal: string;
  readonly endpoint: string;
  readonly visibility: Visibility | undefined;
  readonly taskOwner: string;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly info: Readonly<Record<string, unknown>>;
  readonly logLevel: LogLevel | "off";
  /** Carries questions to the client. */
  readonly #dialogue: Dialogue;
  #scope: string | undefined;

  constructor(params: Params, { principal, place, party, account }: RequestSender, dialogue: Dialogue) {
    this.#dialogue = dialogue;
    const meta = metaOf(params) ?? {};
    const level = meta[LOG_LEVEL];
    this.who = principal;
    this.principal = principal.id;
    this.endpoint = place.endpoint;
    this.taskOwner = ownerAt(principal, place.endpoint);
    this.party = party ?? this.key;
    this.protocolVersion = toDisplayText(meta[PROTOCOL_VERSION]);
    this.capabilities = (meta[CLIENT_CAPABILITIES] ?? {}) as Record<string, unknown>;
    this.info = (meta[CLIENT_INFO] ?? {}) as Record<string, unknown>;
    this.visibility = visibilityAt(place, this.info);
    this.account = account;
    this.meter = account;
    this.logLevel = typeof level === "string" && severity(level) >= 0 ? (level as LogLevel) : "off";
  }

  get scope(): string {
    if (this.#scope === undefined) {
      const hash = createHash("sha256").update(JSON.stringify(this.capabilities)).digest("base64url");
      this.#scope = `${this.party}:${hash.slice(0, 16)}`;
    }
    return this.#scope;
  }

  /**
   * Asks the client through the answer to its request, which is the only way in this version. That
   * may be before a server gets the request: the server asks at its start.
   */
  ask(method: string, params: string, { signal }: About): Promise<Answer> {
    if (canBeAsked(this.capabilities, method)) return this.#dialogue.ask(method, params, signal);
    return Promise.resolve(failure(cannotBeAsked(method)));
  }
}
