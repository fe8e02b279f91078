/**
 * Resumes an answer stream that broke before its answer, from the last event that was seen.
 *
 * There is always a pause before an attempt, and the attempts end: with the answer, with a refusal,
 * when nobody waits any more, or after too many of them.
 */
import type { Exchange } from "../../../lib/http-client/exchange.ts";
import { shortestPause } from "../../../lib/timing/reopening.ts";
import type { Call } from "../../protocol/call.ts";

/** An answer stream that broke before the answer. */
export interface BrokenStream {
  readonly id: number;
  readonly call: Call | undefined;
  readonly lastEventId: string;
  /** `breaks`: how often the stream broke. `tries`: how often in a row without a new event. */
  readonly breaks: number;
  readonly tries: number;
}

/** The link that the stream belongs to. */
export interface ResumingLink {
  /** Returns whether the link is open and anyone waits for the answer. */
  readonly isWanted: (id: number) => boolean;
  /** Opens the stream again. `done` is called when it ends. */
  readonly open: (broken: BrokenStream, done: (outcome: Exchange) => void) => void;
  readonly failed: (id: number, outcome: Exchange) => void;
}

const STREAM_RETRY_MS = 1000;
/**
 * `MAX_RESUMES`: attempts to resume a stream without a new event. `MAX_BREAKS`: how often one
 * answer stream may break in all.
 */
const MAX_RESUMES = 5;
const MAX_BREAKS = 1000;

export function resumeAfter(ms: number, broken: BrokenStream, link: ResumingLink): void {
  setTimeout(() => resume(broken, link), Math.max(ms, shortestPause(broken.breaks))).unref();
}

function resume(broken: BrokenStream, link: ResumingLink): void {
  const { id, lastEventId, breaks, tries } = broken;
  if (!link.isWanted(id)) return;
  link.open(broken, (outcome) => {
    if (!link.isWanted(id)) return;
    const next = outcome.lastEventId ?? (tries < MAX_RESUMES ? lastEventId : undefined);
    const stopped = outcome.status !== undefined && outcome.status >= 300;
    if (stopped || next === undefined || breaks >= MAX_BREAKS) return link.failed(id, outcome);
    const again = { ...broken, lastEventId: next, breaks: breaks + 1, tries: outcome.lastEventId ? 0 : tries + 1 };
    resumeAfter(outcome.retryMs ?? STREAM_RETRY_MS, again, link);
  });
}
