/**
 * Makes the API and the metrics of a gateway with workers: the first worker shows all of them, and
 * the others answer its questions. What does so loads on first use.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Admin } from "../../admin/api/admin.ts";
import type { MetricsPage } from "../../admin/api/metrics-page.ts";
import type { Siblings } from "../../admin/api/whole/siblings.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { lazy } from "../../lib/structures/lazy.ts";
import type { Worker } from "../workers/worker.ts";

export interface WholeParts {
  readonly admin: Admin;
  readonly metrics: MetricsPage;
  readonly cluster: Cluster;
  readonly workers: Worker;
}

/** Another worker asks, on behalf of somebody. */
interface AskedByWorker {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly by: string;
}

/** People wait for the answer. */
const ANSWER_MS = 3000;
/** Where a worker shows its own metrics to the first one. */
const METRICS_PATH = "/worker/metrics";

export function createWhole(parts: WholeParts) {
  const { admin, metrics } = parts;
  const siblings = lazy(() => loadSiblings(parts));
  const api = lazy(async () => {
    const { createWholeApi } = await import("../../admin/api/whole/whole-api.ts");
    return createWholeApi(admin.fetch, await siblings());
  });
  const page = lazy(async () => {
    const { WholeMetrics } = await import("../../admin/api/whole/whole-metrics.ts");
    return new WholeMetrics(metrics.load, await siblings(), METRICS_PATH);
  });
  const answer: Admin["fetch"] = async (request, principal) =>
    new URL(request.url).pathname === METRICS_PATH
      ? Response.json(await (await metrics.load()).families())
      : admin.fetch(request, principal);
  const reply = async (asked: AskedByWorker): Promise<void> => {
    const { answerSibling } = await import("../../admin/api/whole/siblings.ts");
    await answerSibling(asked, answer);
  };
  const fetch: Admin["fetch"] = async (request, principal) => (await api())(request, principal);
  return {
    admin: { ...admin, fetch },
    metrics: { load: async () => (await page()).load() },
    answerWorker: (asked: AskedByWorker): void => void reply(asked).catch(() => asked.outgoing.destroy()),
  };
}

async function loadSiblings({ workers, cluster }: WholeParts): Promise<Siblings> {
  const { Siblings } = await import("../../admin/api/whole/siblings.ts");
  return new Siblings({
    others: () => workers.members.filter(({ number }) => number !== workers.number),
    ask(id, question) {
      const owner = workers.members.find((member) => member.id === id);
      if (!owner) return Promise.reject(new Error("it has ended"));
      return cluster.ask(owner, { ...question, timeoutMs: ANSWER_MS });
    },
  });
}
