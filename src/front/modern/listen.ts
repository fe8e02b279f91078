/**
 * `subscriptions/listen`: one long answer that carries all notifications that a client asked for,
 * about changed lists and updated resources.
 *
 * The first message acknowledges the accepted filters. Every message carries the id of the request.
 * A graceful end is the request's result.
 */

import { randomUUID } from "node:crypto";
import { memberText, setMember } from "../../json/json-text.ts";
import { SERVER_INFO, SUBSCRIPTION_ID } from "../../protocol/envelope.ts";
import { GoblinError } from "../../protocol/errors.ts";
import { answerText, failure, type Id, notificationText, type Params } from "../../protocol/json-rpc.ts";
import { allChangeKinds, type ChangeKind, changeFilters, changeNotifications } from "../../protocol/methods.ts";
import { isRecord } from "../../structures/record.ts";
import type { FrontContext } from "../context.ts";

export interface ListenOptions {
  readonly id: Id;
  readonly params: Params;
  readonly write: (text: string) => void;
  /** Runs when the answer is complete. */
  readonly ended: () => void;
}

export interface Listen {
  /** Ends it from the gateway's side, with a result. */
  end(): void;
  /** Stops it because the client has disconnected. */
  close(): void;
}

export function openListen(context: FrontContext, { id, params, write, ended }: ListenOptions): Listen {
  const clientKey = `listen:${randomUUID()}`;
  let open = true;
  let stopChanges: (() => void) | undefined;
  const stop = (): void => {
    if (!open) return;
    open = false;
    stopChanges?.();
    context.subscriptions.release(clientKey);
  };
  const end = (): void => {
    if (!open) return;
    const raw = `{"resultType":"complete","_meta":{"${SUBSCRIPTION_ID}":${JSON.stringify(id)},"${SERVER_INFO}":${JSON.stringify(context.directory.serverInfo)}}}`;
    write(answerText(id, { ok: true, raw }));
    stop();
    ended();
  };
  const send = (method: string, paramsJson: string): void => {
    if (!open) return;
    const meta = setMember(memberText(paramsJson, "_meta") ?? "{}", SUBSCRIPTION_ID, JSON.stringify(id));
    write(notificationText(method, setMember(paramsJson, "_meta", meta)));
  };

  const wanted = params["notifications"];
  if (!isRecord(wanted)) {
    write(
      answerText(
        id,
        failure(new GoblinError("INVALID_PARAMS", 'subscriptions/listen needs "notifications", an object')),
      ),
    );
    open = false;
    queueMicrotask(ended);
    return { end, close: stop };
  }
  void begin(wanted);
  return { end, close: stop };

  async function begin(filter: Record<string, unknown>): Promise<void> {
    const kinds = new Set(allChangeKinds.filter((kind) => filter[changeFilters[kind]] === true));
    // Changes that happen while the subscriptions are made are told after the acknowledgement.
    const early: ChangeKind[] = [];
    let acknowledged = false;
    stopChanges = context.directory.onChange((changed) => {
      for (const kind of changed) {
        if (!kinds.has(kind)) continue;
        if (acknowledged) send(changeNotifications[kind], "{}");
        else early.push(kind);
      }
    });
    const uris = Array.isArray(filter["resourceSubscriptions"]) ? filter["resourceSubscriptions"] : [];
    const updates: string[] = [];
    const deliver = (paramsJson: string): void => {
      if (acknowledged) send("notifications/resources/updated", paramsJson);
      else updates.push(paramsJson);
    };
    const answers = await Promise.all(
      uris.map(
        async (uri: unknown) =>
          typeof uri === "string" && (await context.subscriptions.subscribe(clientKey, uri, deliver)).ok,
      ),
    );
    const honoured: Record<string, unknown> = Object.fromEntries([...kinds].map((kind) => [changeFilters[kind], true]));
    const subscribed = uris.filter((_, i) => answers[i]);
    if (subscribed.length > 0) honoured["resourceSubscriptions"] = subscribed;
    if (!open) return context.subscriptions.release(clientKey);
    send("notifications/subscriptions/acknowledged", JSON.stringify({ notifications: honoured }));
    acknowledged = true;
    for (const kind of new Set(early)) send(changeNotifications[kind], "{}");
    for (const paramsJson of updates) send("notifications/resources/updated", paramsJson);
    if (Object.keys(honoured).length === 0) end();
  }
}
