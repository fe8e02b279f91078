/**
 * `subscriptions/listen`: one long answer that carries all notifications that a client asked for,
 * about changed lists, updated resources and its own tasks.
 *
 * The first message acknowledges the accepted filters. Every message carries the id of the request.
 * A graceful end is the request's result.
 */

import { randomUUID } from "node:crypto";
import type { Follower } from "../../auth/access/access.ts";
import { memberText, setMember } from "../../lib/json/json-text.ts";
import { isRecord, recordOf } from "../../lib/structures/record.ts";
import { CLIENT_CAPABILITIES, CLIENT_INFO, metaOf, SERVER_INFO, SUBSCRIPTION_ID } from "../../mcp/protocol/envelope.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { answerText, failure, type Id, notificationText, type Params } from "../../mcp/protocol/json-rpc.ts";
import { allChangeKinds, type ChangeKind, changeFilters, changeNotifications } from "../../mcp/protocol/methods.ts";
import { ownerAt, type Place, type Principal, type Viewer, visibilityAt } from "../../mcp/protocol/principal.ts";
import type { FrontContext } from "../context.ts";
import { hasTasks, missingTasks } from "./as-task.ts";

export interface ListenOptions {
  readonly id: Id;
  readonly params: Params;
  readonly principal: Principal;
  readonly place: Place;
  /** The account that its subscriptions are counted under. */
  readonly account: string;
  readonly write: (text: string) => void;
  /** Runs when the answer is complete. */
  readonly ended: () => void;
}

export interface ListenStream {
  /** Ends it from the gateway's side, with a result. */
  end(): void;
  /** Stops it because the client has disconnected. */
  close(): void;
}

export function openListen(
  context: FrontContext,
  { id, params, principal, place, account, write, ended }: ListenOptions,
): ListenStream {
  const clientKey = `listen:${randomUUID()}`;
  let open = true;
  const { endpoint } = place;
  const info = recordOf(metaOf(params)?.[CLIENT_INFO]);
  const viewer: Follower & Viewer = {
    key: clientKey,
    endpoint,
    who: principal,
    principal: principal.id,
    info,
    visibility: visibilityAt(place, info),
    close: () => end(),
  };
  const stops: (() => void)[] = [];
  const stop = (): void => {
    if (!open) return;
    open = false;
    for (const each of stops.splice(0)) each();
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
  const problem = problemOf(wanted, params);
  if (problem) {
    write(answerText(id, failure(problem)));
    open = false;
    queueMicrotask(ended);
    return { end, close: stop };
  }
  void begin(recordOf(wanted));
  return { end, close: stop };

  async function begin(filter: Record<string, unknown>): Promise<void> {
    const kinds = new Set(allChangeKinds.filter((kind) => filter[changeFilters[kind]] === true));
    // Changes that happen while the subscriptions are made are told after the acknowledgement.
    const early: ChangeKind[] = [];
    let acknowledged = false;
    context.access.follow(viewer);
    stops.push(
      () => context.access.unfollow(viewer),
      context.directory.onChange(viewer, (changed) => {
        for (const kind of changed) {
          if (!kinds.has(kind)) continue;
          if (acknowledged) send(changeNotifications[kind], "{}");
          else early.push(kind);
        }
      }),
    );
    const held: (() => void)[] = [];
    const deliver =
      (method: string) =>
      (paramsJson: string): void => {
        if (acknowledged) send(method, paramsJson);
        else held.push(() => send(method, paramsJson));
      };
    const updated = deliver("notifications/resources/updated");
    const [subscribed, tasks] = await Promise.all([
      granted(
        namesIn(filter, "resourceSubscriptions"),
        async (uri) => (await context.subscriptions.subscribe({ viewer, account }, uri, updated)).ok,
      ),
      granted(tasksIn(filter), watchTask(deliver("notifications/tasks"))),
    ]);
    const honoured: Record<string, unknown> = Object.fromEntries([...kinds].map((kind) => [changeFilters[kind], true]));
    if (subscribed.length > 0) honoured["resourceSubscriptions"] = subscribed;
    if (tasks.length > 0) honoured["taskIds"] = tasks;
    if (!open) return context.subscriptions.release(clientKey);
    send("notifications/subscriptions/acknowledged", JSON.stringify({ notifications: honoured }));
    acknowledged = true;
    for (const kind of new Set(early)) send(changeNotifications[kind], "{}");
    for (const tell of held) tell();
    if (Object.keys(honoured).length === 0) end();
  }

  /** As limited as subscriptions; the owner of further tasks must poll. */
  function tasksIn(filter: Record<string, unknown>): string[] {
    return [...new Set(namesIn(filter, "taskIds"))].slice(0, context.config.current.limits.subscriptionsPerClient);
  }

  function watchTask(told: (paramsJson: string) => void): (taskId: string) => Promise<boolean> {
    const owner = ownerAt(principal, endpoint);
    return async (taskId) => {
      const client = { key: clientKey, scope: owner, taskOwner: owner, visibility: viewer.visibility };
      const own = await context.heldTasks.listen(taskId, client, told);
      const unwatch = own ?? (await context.tasks.listen(taskId, client, told));
      if (!unwatch) return false;
      if (open) stops.push(unwatch);
      else unwatch();
      return true;
    };
  }
}

function problemOf(wanted: unknown, params: Params): GoblinError | undefined {
  if (!isRecord(wanted))
    return new GoblinError("INVALID_PARAMS", 'subscriptions/listen needs "notifications", an object');
  const capabilities = recordOf(metaOf(params)?.[CLIENT_CAPABILITIES]);
  return namesIn(wanted, "taskIds").length > 0 && !hasTasks({ capabilities }) ? missingTasks() : undefined;
}

function namesIn(filter: Record<string, unknown>, key: string): string[] {
  const names = filter[key];
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

/** Asks for each, and returns those that are granted. */
async function granted(names: readonly string[], grant: (name: string) => Promise<boolean>): Promise<string[]> {
  const answers = await Promise.all(names.map(grant));
  return names.filter((_, i) => answers[i]);
}
