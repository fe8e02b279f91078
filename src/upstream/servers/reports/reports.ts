/**
 * What the connections to one server report: passed on to the client whose connection it is, to the
 * set of servers, or to the log. Storms are held back: see `LogLimit`.
 */
import type { EventEmitter } from "node:events";
import type { PeerEvents } from "../../../mcp/peers/peer.ts";
import { Call, type Client } from "../../../mcp/protocol/call.ts";
import type { Answer, ErrorAnswer } from "../../../mcp/protocol/json-rpc.ts";
import type { Logger } from "../../../observe/telemetry/logger.ts";
import type { Backend } from "../backend.ts";
import type { ServerEvents, SoleClient, Subscribers } from "../events.ts";
import type { ListFetcher } from "../list-fetcher.ts";
import { SESSIONS } from "../owner.ts";
import { LogLimit } from "./log-limit.ts";
import { ask, linksIn, linksInRefusal, type Question } from "./questions.ts";

export interface ReportsHost {
  readonly emit: EventEmitter<ServerEvents>["emit"];
  readonly subscribers: Subscribers;
  readonly sole: SoleClient | undefined;
  /** A server asks the only client something. */
  asksSole(serverId: string): void;
}

export interface ReportsParts {
  readonly serverId: string;
  readonly host: ReportsHost;
  readonly log: Logger;
  /** Whether a problem is not one of an earlier start that failed. */
  readonly isNews: (text: string) => boolean;
  readonly backend: () => Backend;
  /** Whether the server is the one that clients see, or ever was. */
  readonly isAttached: () => boolean;
  readonly wasAttached: () => boolean;
  /** Whether it waits for an approval, unseen by clients. */
  readonly isStandby: () => boolean;
  /** Returns what follows the lists of the client's own connection, or of the shared ones. */
  readonly lists: (owner: Client | undefined) => ListFetcher | undefined;
}

export class Reports {
  readonly #parts: ReportsParts;
  readonly #logs: LogLimit;

  constructor(parts: ReportsParts) {
    this.#parts = parts;
    this.#logs = new LogLimit(parts.serverId, parts.log);
  }

  /** `sharers`: the client whose own connection it is, or those that share it. */
  of(sharers: Client | typeof SESSIONS | undefined): Omit<PeerEvents, "closed"> {
    const { serverId, host, lists, isAttached, wasAttached } = this.#parts;
    const owner = sharers === SESSIONS ? undefined : sharers;
    const ownerKey = sharers === SESSIONS ? SESSIONS : owner?.key;
    return {
      changed: (kind) => lists(owner)?.changed(kind),
      updated: (uri, params) => {
        // A replaced server may still change resources for its last callers. A server that was
        // never attached cannot.
        if (wasAttached()) host.emit("updated", { serverId, uri, params, ownerKey });
      },
      log: (level, params, to) => {
        if (!wasAttached() || !this.#logs.pass()) return;
        host.emit("log", { serverId, level, params, to: owner && !(to instanceof Call) ? owner : to });
      },
      notified: (method, params, to) => {
        if (!wasAttached() || !this.#logs.pass()) return;
        host.emit("notified", { serverId, method, params, to: owner && !(to instanceof Call) ? owner : to });
      },
      missed: () => {
        lists(owner)?.refetch();
        if (!isAttached()) return;
        if (ownerKey !== undefined) host.emit("ownRestored", serverId, ownerKey);
        else void host.subscribers.restored(serverId);
      },
      task: (note) => {
        if (wasAttached()) host.emit("taskStatus", serverId, note, owner);
      },
      ask: (method, params, asked) => this.#ask({ serverId, method, params, owner, ...asked }),
      problem: (message, detail = "") => {
        if (this.#parts.isNews(`${message} ${detail}`)) this.#logs.problem(message, detail || undefined);
      },
    };
  }

  /** The server answered a client's call with an error. */
  refused(answer: ErrorAnswer, client: Client): void {
    const { serverId, host } = this.#parts;
    for (const id of linksInRefusal(answer)) host.emit("linked", serverId, id, client);
  }

  #ask(question: Omit<Question, "sole">): Promise<Answer> {
    const { serverId, host, backend, isStandby } = this.#parts;
    const { method, origin, owner } = question;
    // A version that is not approved may ask nothing but for roots, which its lists depend on.
    const sole = isStandby() && method !== "roots/list" ? undefined : host.sole;
    const asked = typeof origin === "object" ? origin.client : owner;
    if (asked) for (const id of linksIn(question)) host.emit("linked", serverId, id, asked);
    if (sole && !asked) host.asksSole(serverId);
    const answer = ask({ ...question, sole });
    if (asked) return answer;
    const { connections } = backend();
    if (!sole) connections.ownership.asked(method);
    else {
      connections.hold(answer);
      // Without a session it can be asked in its calls only.
      void answer.then(() => {
        if (sole.lacksSession) connections.ownership.asked(method);
      });
    }
    return answer;
  }
}
