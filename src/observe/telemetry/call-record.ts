/**
 * One call as people see it in lists: who asked what of whom, how it ended and how long it took.
 *
 * A record is an object of a class, as is a kept call. V8 puts the objects of a literal into the
 * old generation at once if the first ones lived long. All texts that they refer to go with them,
 * and full collections would come more often.
 */
import type { Call } from "../../mcp/protocol/call.ts";
import { type Answer, shownCode } from "../../mcp/protocol/json-rpc.ts";
import type { Outcome } from "../../mcp/protocol/outcomes.ts";

const SHOWN_NAME = 200;

export interface CallEnd {
  readonly answer: Answer;
  readonly outcome: Outcome;
  readonly serverId: string | null;
  readonly ms: number;
}

export class CallRecord {
  /** When the call ended. */
  readonly time = Date.now();
  readonly method: string;
  /** The name that the client used. */
  readonly name: string | null;
  readonly serverId: string | null;
  readonly ms: number;
  readonly outcome: Outcome;
  readonly client: string | null;
  /** The principal's name. */
  readonly who: string | null;
  readonly profile: string | null;
  readonly code: string | number | null;
  readonly requestId: string;

  constructor(call: Call, { answer, outcome, serverId, ms }: CallEnd) {
    this.method = call.method;
    this.name = nameOf(call);
    this.serverId = serverId;
    this.ms = ms;
    this.outcome = outcome;
    this.client = clientName(call);
    this.who = call.who.name || null;
    this.profile = call.client.visibility?.profile ?? null;
    this.code = answer.ok ? null : shownCode(answer);
    this.requestId = call.requestId;
  }
}

/** Returns the name or URI in the request, cut to a bounded length. */
function nameOf({ params }: Call): string | null {
  const { name, uri } = params as { name?: unknown; uri?: unknown };
  const given = typeof name === "string" ? name : uri;
  return typeof given === "string" ? given.slice(0, SHOWN_NAME) : null;
}

function clientName({ client }: Call): string | null {
  const { name } = client.info;
  return typeof name === "string" ? name.slice(0, SHOWN_NAME) : null;
}
