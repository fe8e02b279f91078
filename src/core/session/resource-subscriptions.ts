/**
 * Subscribes clients to resources: finds the resource, keeps the record, and delivers updates with
 * the URI form that the client used.
 */
import { cannotWait } from "../../auth/approvals/refusal.ts";
import { setMember } from "../../lib/json/json-text.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import { type Answer, failure, notificationText, withErrorData } from "../../mcp/protocol/json-rpc.ts";
import type { LogLevel } from "../../mcp/protocol/log-levels.ts";
import { ANYONE, type Principal, type Viewer } from "../../mcp/protocol/principal.ts";
import type { Catalog } from "../../upstream/catalog/catalog.ts";
import type { Servers } from "../../upstream/servers/servers.ts";
import type { Asker, Waiting } from "../../upstream/servers/waiting.ts";
import { stringParam } from "../routing/resolve.ts";
import { findSeen, type Seen, type SeenUris } from "../routing/seen-uris.ts";
import type { Continuity } from "./continuity.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./store.ts";
import type { SubscriptionRecord } from "./subscription-book.ts";
import type { Subscriptions } from "./subscriptions.ts";

export interface ResourceSubscriptionParts {
  readonly catalog: Catalog;
  readonly servers: Servers;
  readonly waiting: Waiting;
  readonly seen: SeenUris;
  readonly sessions: SessionStore;
  readonly continuity: Continuity;
  readonly subscriptions: Subscriptions;
}

type Subscribed = Pick<SubscriptionRecord, "serverId" | "uri" | "form">;

/** A client without a session. */
export interface Subscriber {
  /** Its visibility may change. */
  readonly viewer: Viewer;
  readonly account: string;
}

export class ResourceSubscriptions {
  readonly #parts: ResourceSubscriptionParts;

  constructor(parts: ResourceSubscriptionParts) {
    this.#parts = parts;
    parts.sessions.on("resumed", (session) => this.#resume(session));
    parts.sessions.on("ended", ({ key }) => parts.waiting.release(key));
  }

  /** Subscribes a client without a session; `deliver` gets the raw params of each update. */
  async subscribe(client: Subscriber, form: string, deliver: (params: string) => void): Promise<Answer> {
    const { viewer, account } = client;
    try {
      const { serverId, uri } = await this.#find(form, account, { client: viewer });
      admitUri(viewer, { serverId, uri, form });
      const record = { ...this.#record(viewer, { serverId, uri, form }, deliver), account };
      return named(await this.#parts.subscriptions.subscribe(record, undefined), serverId);
    } catch (error) {
      return failure(error);
    }
  }

  /** Ends all subscriptions of a client without a session. */
  release(clientKey: string): void {
    this.#parts.waiting.release(clientKey);
    this.#parts.subscriptions.dropClient(clientKey);
  }

  /** `resources/subscribe` of a session. */
  async subscribeSession(flight: Flight): Promise<Answer> {
    const { client } = flight.call;
    const form = stringParam(flight.call, "uri");
    const { serverId, uri } = await this.#find(form, client.account, { client, call: flight.call });
    flight.serverId = serverId;
    admitUri(client, { serverId, uri, form });
    await this.#parts.servers.prepare(serverId, flight.call.client);
    const record = this.#record(client, { serverId, uri, form }, toSession(this.#parts.sessions.get(client.key)));
    const answer = await this.#parts.subscriptions.subscribe(record, flight);
    // An acknowledged subscription must survive a restart.
    if (answer.ok) await this.#parts.continuity.written();
    return named(answer, serverId);
  }

  /** `resources/unsubscribe` of a session. Works even if the resource is no longer listed. */
  async unsubscribeSession(flight: Flight): Promise<Answer> {
    const { subscriptions } = this.#parts;
    const { call } = flight;
    const { key: clientKey, account } = call.client;
    const form = stringParam(call, "uri");
    const { serverId, uri } =
      subscriptions.find(clientKey, form) ?? (await this.#find(form, account, { client: call.client, call }));
    flight.serverId = serverId;
    return named(await subscriptions.unsubscribe({ clientKey, serverId, uri }, flight), serverId);
  }

  /** Finds the resource; waits if its server is still starting. */
  #find(form: string, account: string, asker: Asker): Promise<Seen> {
    const { waiting, seen } = this.#parts;
    return waiting.found((snapshot) => findSeen(form, { snapshot, seen, account }), asker);
  }

  /** Restores the subscriptions and log level that a session had in an earlier process. */
  #resume(session: Session): void {
    const { continuity, servers, sessions, subscriptions } = this.#parts;
    const { subscriptions: records = [], logLevel } = continuity.remembered(session.key) ?? {};
    if (logLevel !== undefined) {
      session.logLevel = logLevel as LogLevel;
      sessions.emit("logLevel", session);
    }
    for (const record of records) {
      const { serverId, uri } = record;
      if (!servers.config(serverId) || !mayStay(session, record)) continuity.unsubscribed(session.key, serverId, uri);
      else void subscriptions.resume(this.#record(session, record, toSession(session)));
    }
  }

  #record(viewer: Viewer, { serverId, uri, form }: Subscribed, deliver: (params: string) => void) {
    const { catalog, sessions } = this.#parts;
    const { key: clientKey, principal } = viewer;
    const record: SubscriptionRecord = {
      clientKey,
      principal,
      serverId,
      uri,
      form,
      since: Date.now(),
      hasSession: sessions.get(clientKey) !== undefined,
      deliver: (updated, params) => {
        if (isHidden(updated, serverId, viewer)) return;
        const known = catalog.view(viewer).resources.formOf({ serverId, form, uri, updated });
        deliver(setMember(params, "uri", JSON.stringify(known)));
      },
    };
    return record;
  }
}

/**
 * Rules with conditions apply to subscriptions as they do to reads. A subscription to what a person
 * must be asked about is refused. @throws GoblinError
 */
function admitUri(
  { visibility, who = ANYONE }: Viewer & { readonly who?: Principal },
  { serverId, uri: name, form: shownName }: Subscribed,
): void {
  const definition = undefined;
  const given = visibility?.admit?.({ serverId, kind: "resource", name, definition, who, params: "{}", shownName });
  if (given !== undefined && typeof given !== "string") throw cannotWait(shownName, "subscriptions");
}

/** The rules of an earlier process may have been others. */
function mayStay(session: Session, record: Subscribed): boolean {
  try {
    admitUri(session, record);
    return true;
  } catch {
    return false;
  }
}

/** A resource that was subscribed to may be hidden by now. */
function isHidden(name: string, serverId: string, { visibility }: Viewer): boolean {
  if (!visibility) return false;
  const entry = { serverId, kind: "resource", name, definition: undefined } as const;
  return !visibility.showsServer(serverId) || !visibility.shows(entry);
}

/** Returns a function that delivers the raw params of an update to a session. */
function toSession(session: Session | undefined): (params: string) => void {
  return (params) => session?.notify(notificationText("notifications/resources/updated", params));
}

function named(answer: Answer, serverId: string): Answer {
  return answer.ok ? answer : withErrorData(answer, { serverId });
}
