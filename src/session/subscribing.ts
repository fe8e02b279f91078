/**
 * The methods by which a client subscribes to a resource and lets go of it: finds the resource, keeps the record, and delivers updates
 * in the form of the URI that this client used.
 */
import type { Catalog } from "../catalog/catalog.ts";
import type { Call } from "../model/call.ts";
import { type Answer, notificationText, withErrorData } from "../model/json-rpc.ts";
import { setMember } from "../model/json-text.ts";
import { findResource, stringParam } from "../router/resolve.ts";
import type { Session } from "./session.ts";
import type { Subscriptions } from "./subscriptions.ts";

export interface SubscribingOptions {
  readonly catalog: Catalog;
  readonly subscriptions: Subscriptions;
  readonly session: (clientKey: string) => Session | undefined;
}

export function subscriptionMethods(
  options: SubscribingOptions,
): Readonly<Record<string, (call: Call) => Promise<Answer>>> {
  const { catalog, subscriptions, session } = options;

  return {
    "resources/subscribe": async (call) => {
      const form = stringParam(call, "uri");
      const { serverId, uri } = findResource(catalog.snapshot, form);
      call.serverId = serverId;
      const clientKey = call.client.key;
      const deliver = (updated: string, params: string): void => {
        const known = catalog.snapshot.resources.formOf({ serverId, form, uri, updated });
        const text = notificationText(
          "notifications/resources/updated",
          setMember(params, "uri", JSON.stringify(known)),
        );
        session(clientKey)?.notify(text);
      };
      const record = { clientKey, serverId, uri, form, since: Date.now(), deliver };
      return named(await subscriptions.subscribe(record, call), serverId);
    },
    "resources/unsubscribe": async (call) => {
      const form = stringParam(call, "uri");
      // A resource that is gone from the list can still be let go of.
      const { serverId, uri } = subscriptions.find(call.client.key, form) ?? findResource(catalog.snapshot, form);
      call.serverId = serverId;
      return named(await subscriptions.unsubscribe(call.client.key, serverId, uri, call), serverId);
    },
  };
}

function named(answer: Answer, serverId: string): Answer {
  return answer.ok ? answer : withErrorData(answer, { serverId });
}
