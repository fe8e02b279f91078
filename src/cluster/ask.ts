/**
 * Asks another replica about itself, over the channel of the hand-overs. Only those that know the
 * secret can ask. Hand-overs drop the header of such a question, so no client can send one.
 */
import type { IncomingMessage } from "node:http";
import { type Agent, request } from "node:https";
import { ASKED_HEADER, connectTo, OWNER_HEADER } from "./channel.ts";
import type { Owner } from "./owners.ts";

export interface ReplicaRequest {
  readonly method: string;
  readonly path: string;
  /** On whose behalf it is asked. */
  readonly by: string;
  /** JSON. */
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long the other replica may take to agree to answer. A process that runs agrees at once. */
  readonly agreeMs: number;
  /** How long it may take from then until its answer begins. */
  readonly answerMs: number;
}

/** Rejects if that replica has ended, or does not answer in time. */
export function ask(agent: Agent, { id, address }: Owner, question: ReplicaRequest): Promise<IncomingMessage> {
  const { method, path, by, body, signal, agreeMs, answerMs } = question;
  const sized =
    body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const headers = { ...sized, expect: "100-continue", [OWNER_HEADER]: id, [ASKED_HEADER]: by };
  return new Promise((resolve, reject) => {
    const sent = request({ ...connectTo(address), agent, method, path, headers, signal });
    const abandon = (): void => void sent.destroy(new Error("it does not answer"));
    let timer = setTimeout(abandon, agreeMs);
    let isAgreed = false;
    sent.on("continue", () => {
      isAgreed = true;
      clearTimeout(timer);
      timer = setTimeout(abandon, answerMs);
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
