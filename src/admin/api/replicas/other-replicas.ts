/**
 * The other replicas, as this one asks them: each answers with its own API, for itself alone.
 *
 * Questions travel over the channel of the hand-overs, which only holders of the cluster's secret
 * can use. The replica that a caller reached has checked the caller's right to administer; the
 * others trust it, and read who asks from the question.
 */
import type { IncomingMessage } from "node:http";
import type { Cluster } from "../../../cluster/cluster.ts";
import type { ReplicaQuestion } from "../../../cluster/listener.ts";
import { Pieces } from "../../../lib/structures/pieces.ts";
import { ANYONE, type Principal } from "../../../mcp/protocol/principal.ts";

/** A request of the API, on behalf of a caller. */
export interface ForwardedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** JSON. */
  readonly body?: string | undefined;
  readonly principal: Principal;
  readonly signal?: AbortSignal | undefined;
}

export interface ForwardedAnswer {
  readonly replica: string;
  readonly status: number;
  readonly text: string;
}

export interface ForwardedAnswers {
  readonly answers: readonly ForwardedAnswer[];
  /** The replicas that did not answer. */
  readonly silent: readonly string[];
}

/** A process that runs agrees to answer at once. */
const AGREE_MS = 3000;
/** A server that restarts may have to end first. */
const ANSWER_MS = 60_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export class OtherReplicas {
  readonly #cluster: Pick<Cluster, "self" | "others" | "ask">;

  constructor(cluster: Pick<Cluster, "self" | "others" | "ask">) {
    this.#cluster = cluster;
  }

  /** The name of this replica. */
  get self(): string {
    return this.#cluster.self.id;
  }

  /** The names of the others. */
  get names(): readonly string[] {
    return this.#cluster.others.map(({ id }) => id);
  }

  /** Asks all others at once. */
  async askAll(request: ForwardedRequest): Promise<ForwardedAnswers> {
    const { names } = this;
    const outcomes = await Promise.allSettled(names.map((name) => this.ask(name, request)));
    return {
      answers: outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value : [])),
      silent: names.filter((_, i) => outcomes[i]?.status === "rejected"),
    };
  }

  /** Asks one of them. Rejects if it has ended, or does not answer. */
  async ask(replica: string, request: ForwardedRequest): Promise<ForwardedAnswer> {
    const inTime = AbortSignal.timeout(AGREE_MS + ANSWER_MS);
    const signal = request.signal ? AbortSignal.any([request.signal, inTime]) : inTime;
    const answer = await this.open(replica, { ...request, signal });
    return { replica, status: answer.statusCode ?? 500, text: await readText(answer) };
  }

  /** Opens a stream at one of them. */
  open(replica: string, { principal, ...request }: ForwardedRequest): Promise<IncomingMessage> {
    const owner = this.#cluster.others.find(({ id }) => id === replica);
    if (!owner) return Promise.reject(new Error("it has ended"));
    const by = writePrincipal(principal);
    return this.#cluster.ask(owner, { ...request, by, agreeMs: AGREE_MS, answerMs: ANSWER_MS });
  }
}

/** Answers another replica. `fetch`: this replica's own API, which asks nobody else. */
export async function answerReplica(
  { incoming, outgoing, by }: ReplicaQuestion,
  fetch: (request: Request, principal: Principal) => Promise<Response>,
): Promise<void> {
  const { method = "GET", url = "/" } = incoming;
  const body = method === "GET" ? null : await readText(incoming);
  const headers = { "content-type": "application/json" };
  const leaving = new AbortController();
  outgoing.once("close", () => leaving.abort());
  const request = new Request(new URL(url, "http://replica"), { method, headers, body, signal: leaving.signal });
  const response = await fetch(request, readPrincipal(by));
  outgoing.writeHead(response.status, { "content-type": response.headers.get("content-type") ?? "text/plain" });
  outgoing.flushHeaders();
  const reader = response.body?.getReader();
  outgoing.once("close", () => void reader?.cancel().catch(() => {}));
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(part.value))
      await new Promise((resolve) => outgoing.once("drain", resolve).once("close", resolve));
  }
  outgoing.end();
}

async function readText(stream: IncomingMessage): Promise<string> {
  const pieces = new Pieces();
  for await (const chunk of stream) {
    pieces.add(chunk as Buffer);
    if (pieces.size > MAX_ANSWER_BYTES) throw new Error("the answer is too long");
  }
  return pieces.take().toString("utf8");
}

function writePrincipal({ id, name, client, groups, scopes, profiles, isAdmin, expiresAt }: Principal): string {
  const scopeNames = scopes && [...scopes];
  // JSON has no infinity.
  const ends = Number.isFinite(expiresAt) ? expiresAt : undefined;
  const written = { id, name, client, groups, scopes: scopeNames, profiles, isAdmin, expiresAt: ends };
  return Buffer.from(JSON.stringify(written)).toString("base64url");
}

function readPrincipal(by: string): Principal {
  // Only a replica with the secret writes it, as above.
  const { scopes, ...read } = JSON.parse(Buffer.from(by, "base64url").toString("utf8"));
  return { ...ANYONE, ...read, scopes: scopes && new Set(scopes) };
}
