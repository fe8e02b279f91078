/**
 * The other workers, as the first one asks them: each answers with its own API and metrics.
 *
 * A worker that has ended or does not answer is left out, and the others are shown. The first
 * worker has established who asks; the others trust it.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { WorkerRequest } from "../../../cluster/ask.ts";
import { Pieces } from "../../../lib/structures/pieces.ts";
import { ANYONE, type Principal } from "../../../mcp/protocol/principal.ts";

/** A question on behalf of somebody. */
export interface SiblingQuestion extends Omit<WorkerRequest, "by" | "timeoutMs"> {
  readonly principal: Principal;
}

export interface SiblingAnswer {
  readonly worker: number;
  readonly status: number;
  readonly text: string;
}

/** How to reach the other workers. */
export interface Reach {
  /** The numbers and ids of those that serve. */
  readonly others: () => readonly { readonly number: number; readonly id: string }[];
  readonly ask: (id: string, question: Omit<WorkerRequest, "timeoutMs">) => Promise<IncomingMessage>;
}

/** Longer answers are not for people. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export class Siblings {
  readonly #reach: Reach;

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  get others(): readonly { readonly number: number; readonly id: string }[] {
    return this.#reach.others();
  }

  /** Asks all others. */
  async all(question: SiblingQuestion): Promise<SiblingAnswer[]> {
    const answers = this.others.map(async ({ number, id }) => {
      try {
        return [{ worker: number, ...(await this.one(id, question)) }];
      } catch {
        return [];
      }
    });
    return (await Promise.all(answers)).flat();
  }

  /** Asks one of them. Rejects if it has ended, or says nothing. */
  async one(id: string, question: SiblingQuestion): Promise<Omit<SiblingAnswer, "worker">> {
    const answer = await this.stream(id, question);
    return { status: answer.statusCode ?? 500, text: await read(answer) };
  }

  /** Opens a stream at one of them. */
  stream(id: string, { principal, ...question }: SiblingQuestion): Promise<IncomingMessage> {
    return this.#reach.ask(id, { ...question, by: written(principal) });
  }
}

/** What the first worker asked. */
export interface SiblingRequest {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** On whose behalf. */
  readonly by: string;
}

/** Answers the first worker. */
export async function answerSibling(
  { incoming, outgoing, by }: SiblingRequest,
  fetch: (request: Request, principal: Principal) => Promise<Response>,
): Promise<void> {
  const { method = "GET", url = "/" } = incoming;
  const text = method === "GET" ? undefined : await read(incoming);
  const headers = { "content-type": "application/json" };
  const leaving = new AbortController();
  outgoing.once("close", () => leaving.abort());
  const request = new Request(`http://worker${url}`, { method, headers, body: text ?? null, signal: leaving.signal });
  const response = await fetch(request, principalIn(by));
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

async function read(stream: IncomingMessage): Promise<string> {
  const pieces = new Pieces();
  for await (const chunk of stream) {
    pieces.add(chunk as Buffer);
    if (pieces.size > MAX_ANSWER_BYTES) throw new Error("the answer is too long");
  }
  return pieces.take().toString("utf8");
}

function written({ id, name, client, groups, isAdmin }: Principal): string {
  return Buffer.from(JSON.stringify({ id, name, client, groups, isAdmin })).toString("base64url");
}

function principalIn(by: string): Principal {
  // Only a worker of the same gateway writes it.
  return { ...ANYONE, ...(JSON.parse(Buffer.from(by, "base64url").toString("utf8")) as Partial<Principal>) };
}
