/**
 * Asks another worker about itself, over the channel of the hand-overs. Only those that know the
 * secret can ask. What clients send is never taken for such a question: hand-overs drop its header.
 */
import type { IncomingMessage } from "node:http";
import { type Agent, request } from "node:https";
import { ASKED_HEADER, connectTo, OWNER_HEADER } from "./channel.ts";
import type { Owner } from "./owners.ts";

export interface WorkerRequest {
  readonly method: string;
  readonly path: string;
  /** On whose behalf it is asked. */
  readonly by: string;
  /** JSON. */
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long the other one may take to begin its answer. */
  readonly timeoutMs: number;
}

/** Rejects if that worker has ended, or says nothing. */
export function ask(agent: Agent, { id, address }: Owner, question: WorkerRequest): Promise<IncomingMessage> {
  const { method, path, by, body, signal, timeoutMs } = question;
  const sized =
    body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const headers = { ...sized, expect: "100-continue", [OWNER_HEADER]: id, [ASKED_HEADER]: by };
  return new Promise((resolve, reject) => {
    const sent = request({ ...connectTo(address), agent, method, path, headers, signal });
    const timer = setTimeout(() => sent.destroy(new Error("it says nothing")), timeoutMs);
    let isAgreed = false;
    sent.on("continue", () => {
      isAgreed = true;
      sent.end(body);
    });
    sent.on("response", (answer) => {
      clearTimeout(timer);
      if (isAgreed) return resolve(answer);
      answer.resume();
      reject(new Error("it has ended"));
    });
    sent.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    sent.flushHeaders();
  });
}
