/**
 * Subscribing to a resource on behalf of a client: finds the resource, keeps the record, and
 * delivers updates in the form of the URI that this client used.
 */
import type { Catalog } from "../catalog/catalog.ts";
import type { Call } from "../protocol/call.ts";
import { type Answer, failure, notificationText, withErrorData } from "../protocol/json-rpc.ts";
import { setMember } from "../protocol/json-text.ts";
import { findResource, stringParam } from "../routing/resolve.ts";
import type { Session } from "./session.ts";
import type { SubscriptionRecord, Subscriptions } from "./subscriptions.ts";

export interface SubscribingOptions {
  readonly catalog: Catalog;
  readonly subscriptions: Subscriptions;
  readonly session: (clientKey: string) => Session | undefined;
}

export interface Subscribing {
  /** `deliver` gets the raw params of each update. */
  subscribe(clientKey: string, form: string, deliver: (params: string) => void, call?: Call): Promise<Answer>;
  /** Takes up what a session subscribed to in an earlier process. */
  resume(clientKey: string, subscription: Pick<SubscriptionRecord, "serverId" | "uri" | "form">): Promise<void>;
  /** The methods of clients with a session. */
  readonly methods: Readonly<Record<string, (call: Call) => Promise<Answer>>>;
}

export function createSubscribing({ catalog, subscriptions, session }: SubscribingOptions): Subscribing {
  const recordOf = (
    clientKey: string,
    { serverId, uri, form }: Pick<SubscriptionRecord, "serverId" | "uri" | "form">,
    deliver: (params: string) => void,
  ): SubscriptionRecord => ({
    clientKey,
    serverId,
    uri,
    form,
    since: Date.now(),
    hasSession: session(clientKey) !== undefined,
    deliver: (updated, params) => {
      const known = catalog.snapshot.resources.formOf({ serverId, form, uri, updated });
      deliver(setMember(params, "uri", JSON.stringify(known)));
    },
  });
  const toSession =
    (key: string) =>
    (params: string): void => {
      session(key)?.notify(notificationText("notifications/resources/updated", params));
    };
  const subscribe: Subscribing["subscribe"] = async (clientKey, form, deliver, call) => {
    try {
      const { serverId, uri } = findResource(catalog.snapshot, form);
      if (call) call.serverId = serverId;
      const record = recordOf(clientKey, { serverId, uri, form }, deliver);
      return named(await subscriptions.subscribe(record, call), serverId);
    } catch (error) {
      return failure(error);
    }
  };

  return {
    subscribe,
    resume: (clientKey, subscription) => subscriptions.resume(recordOf(clientKey, subscription, toSession(clientKey))),
    methods: {
      "resources/subscribe": async (call) => {
        const { key } = call.client;
        return subscribe(key, stringParam(call, "uri"), toSession(key), call);
      },
      "resources/unsubscribe": async (call) => {
        const form = stringParam(call, "uri");
        // A resource that is gone from the list can still be let go of.
        const { serverId, uri } = subscriptions.find(call.client.key, form) ?? findResource(catalog.snapshot, form);
        call.serverId = serverId;
        return named(await subscriptions.unsubscribe(call.client.key, serverId, uri, call), serverId);
      },
    },
  };
}

function named(answer: Answer, serverId: string): Answer {
  return answer.ok ? answer : withErrorData(answer, { serverId });
}
