/**
 * Several messages in one array. Only one protocol version allows this.
 *
 * A batch must not bypass the limits. Its messages are counted before any is read, its requests
 * count as calls of their session, and its joined answers are bounded. The client always gets an
 * answer, even if something fails.
 */

import type { EarlyCancels, Session } from "../../core/session/session.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { type Answer, answerText, failure, type Inbound } from "../../mcp/protocol/json-rpc.ts";
import { limitExceeded, tooManyUnderWay } from "../../mcp/protocol/limit-exceeded.ts";
import type { Batch } from "../classify.ts";
import type { FrontContext } from "../context.ts";
import type { PostReply } from "./reply.ts";
import { answerRequest, takeMessage } from "./requests.ts";

const BATCH_VERSION = "2025-03-26";

/** Returns the reason to reject this batch, if any. */
export function batchProblem(
  { config, onLimit }: Pick<FrontContext, "config" | "onLimit">,
  session: Session | undefined,
  { size }: Batch,
): GoblinError | undefined {
  if (!session) return new GoblinError("INVALID_REQUEST", "Invalid request: a message must be a JSON object");
  if (session.protocolVersion !== BATCH_VERSION) {
    const why = `protocol version ${session.protocolVersion} has no batches`;
    return new GoblinError("INVALID_REQUEST", `Invalid request: ${why}`);
  }
  if (size === 0) return new GoblinError("INVALID_REQUEST", "Invalid request: an empty batch");
  const { batchMessages } = config.current.limits;
  if (size <= batchMessages) return undefined;
  onLimit("batchMessages");
  return limitExceeded({
    limit: "batchMessages",
    value: batchMessages,
    what: `the batch has ${size} messages`,
    advice: "send fewer at once",
    code: "BODY_TOO_LARGE",
  });
}

export interface BatchOptions {
  readonly session: Session;
  readonly reply: PostReply;
  /** What was cancelled while the batch was read. */
  readonly early: EarlyCancels | undefined;
}

/** Answers a batch from one POST. Never rejects. */
export async function answerBatch(
  context: FrontContext,
  messages: readonly Inbound[],
  { session, reply, early }: BatchOptions,
): Promise<void> {
  const { limits } = context.config.current;
  let size = 0;
  /** Replaces an answer with an error if it would make the whole reply too large. */
  const join = (id: string | number | null, answer: Answer): string => {
    if (size + answer.raw.length <= limits.unreadBytes) {
      size += answer.raw.length;
      return answerText(id, answer);
    }
    context.onLimit("unreadBytes");
    return answerText(id, failure(tooLarge(limits.unreadBytes)));
  };
  const take = async (message: Inbound): Promise<string | undefined> => {
    if (message.kind === "invalid") {
      return join(message.id, failure(new GoblinError("INVALID_REQUEST", `Invalid request: ${message.reason}`)));
    }
    if (message.kind !== "request") {
      takeMessage(context, session, message);
      return undefined;
    }
    if (session.inFlight >= limits.inFlightPerSession) {
      context.onLimit("inFlightPerSession");
      return join(message.id, failure(tooManyUnderWay(limits.inFlightPerSession)));
    }
    const answer = await answerRequest(context, session, { message, to: reply, early });
    return answer && join(message.id, answer);
  };
  try {
    const answers = await Promise.all(messages.map(take));
    reply.answers(answers.filter((answer) => answer !== undefined));
  } catch (error) {
    reply.answers([answerText(null, failure(error))]);
  }
}

function tooLarge(value: number): GoblinError {
  return limitExceeded({
    limit: "unreadBytes",
    value,
    what: "the answers of the batch are too large together",
    advice: "send its requests one by one",
  });
}
