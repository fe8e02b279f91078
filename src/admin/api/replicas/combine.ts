/**
 * The API of all replicas together, as any of them serves it. `AdminRoute.replicas` says which
 * replicas answer a route, and how their answers become one.
 */
import * as z from "zod";
import type { Cluster } from "../../../cluster/cluster.ts";
import type { Principal } from "../../../mcp/protocol/principal.ts";
import { ApiFailure, apiFailure } from "../failure.ts";
import { type AdminRoute, takesBody } from "../route.ts";
import type { AdminRouteName } from "../routes.ts";
import type { ApiError } from "../schema.ts";
import { CombinedFeed } from "./combined-feed.ts";
import { type MergedRouteName, merges, type ReplicaAnswer } from "./merge.ts";
import { type ForwardedAnswer, OtherReplicas } from "./other-replicas.ts";

/** A request that passed the guard, and whose parts fit the route's schemas. */
export interface CombinedRequest {
  readonly name: AdminRouteName;
  readonly route: AdminRoute;
  /** With its query. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  /** Answers for this replica alone; with a name, another route without input. */
  readonly answerHere: (other?: AdminRouteName) => unknown;
}

const NOT_FOUND = 404;

export class CombinedApi {
  readonly #others: OtherReplicas;

  constructor(cluster: Pick<Cluster, "self" | "others" | "ask">) {
    this.#others = new OtherReplicas(cluster);
  }

  /** @throws ApiFailure */
  async answer(request: CombinedRequest): Promise<unknown> {
    const { route, answerHere } = request;
    switch (route.replicas) {
      case "any":
        return answerHere();
      case "owner":
        return this.#find(request);
      case "all":
        return this.#act(request);
      case "merge":
        return this.#merge(request);
    }
  }

  /** Answers for the replica that has what the request names. */
  async #find(request: CombinedRequest): Promise<unknown> {
    const { route, answerHere } = request;
    const hasName = route.response instanceof z.ZodObject && "replica" in route.response.shape;
    try {
      const answer = await answerHere();
      return hasName ? await named(answer, this.#others.self) : answer;
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status !== NOT_FOUND) throw error;
      const { answers, silent } = await this.#ask(request);
      const found = answers.find(({ status }) => status !== NOT_FOUND);
      if (found) return responseOf(found, hasName);
      if (silent.length === 0) throw error;
      const message = `${error.message} here. It may be at a replica that does not answer: ${silent.join(", ")}`;
      throw apiFailure("REPLICA_UNAVAILABLE", message);
    }
  }

  /** Acts here, then at all others. Answers as this replica does. */
  async #act(request: CombinedRequest): Promise<unknown> {
    const done = await request.answerHere();
    const { answers, silent } = await this.#ask(request);
    // A replica without the server or the entry has nothing to do.
    const failed = answers.find(({ status }) => status >= 400 && status !== NOT_FOUND);
    if (failed) throw failureOf(failed);
    if (silent.length === 0) return done;
    const message = `Done at every replica except those that do not answer: ${silent.join(", ")}`;
    throw apiFailure("REPLICA_UNAVAILABLE", message);
  }

  async #merge(request: CombinedRequest): Promise<unknown> {
    const { name, principal, query, answerHere } = request;
    const value = await answerHere();
    if (value instanceof Response) return new CombinedFeed(this.#others, principal, answerHere).open(value);
    const { answers, silent } = await this.#ask(request);
    const all: ReplicaAnswer<unknown>[] = [{ replica: this.#others.self, value }];
    for (const { replica, status, text } of answers) if (status < 400) all.push({ replica, value: JSON.parse(text) });
    // The values come from this route's handler, here and at replicas with the same API.
    const merge = merges[name as MergedRouteName] as (answers: typeof all, about: object) => unknown;
    return merge(all, { query, silent });
  }

  #ask({ route, path, body, principal, signal }: CombinedRequest) {
    const text = takesBody(route) ? JSON.stringify(body ?? {}) : undefined;
    return this.#others.askAll({ method: route.method.toUpperCase(), path, body: text, principal, signal });
  }
}

/** Adds the replica's name to the row that a handler answered with. */
async function named(answer: unknown, replica: string): Promise<unknown> {
  if (!(answer instanceof Response)) return { ...(answer as object), replica };
  return responseOf({ replica, status: answer.status, text: await answer.text() }, true);
}

function responseOf({ replica, status, text }: ForwardedAnswer, hasName: boolean): Response {
  // A call in full is answered byte for byte, so nothing of its text is written again.
  const isNamed = hasName && status < 400 && text.startsWith("{");
  const shown = isNamed ? `{"replica":${JSON.stringify(replica)},${text.slice(1)}` : text;
  return new Response(shown, { status, headers: { "content-type": "application/json" } });
}

function failureOf({ replica, status, text }: ForwardedAnswer): ApiFailure {
  // Every failure of the API has this form.
  const { code, message } = (JSON.parse(text) as ApiError).error;
  return new ApiFailure(status, code, `Replica ${replica}: ${message}`);
}
