/**
 * Holds calls that a person must allow first. A call waits here before it takes anything of its
 * server: no slot, no connection. Its clock stands still, and its client is told that it waits, if
 * it asked for progress.
 *
 * Invariants: what runs is decided when it runs: after an answer the rules are asked again, and the
 * arguments that they leave must be the ones that were allowed. Nothing runs for a client that has
 * gone.
 */
import type { Access } from "../../../auth/access/access.ts";
import type { Approvals } from "../../../auth/approvals/approvals.ts";
import type { ApprovalRecord, Grant } from "../../../auth/approvals/record.ts";
import { gone, nobodyThere, notApproved, refusal } from "../../../auth/approvals/refusal.ts";
import { type Subject, subjectOf } from "../../../auth/approvals/subject.ts";
import { dropMembers, memberText } from "../../../lib/json/json-text.ts";
import { recordOf } from "../../../lib/structures/record.ts";
import { GoblinError } from "../../../mcp/protocol/errors.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import { type Answer, notificationText, rawText } from "../../../mcp/protocol/json-rpc.ts";
import { type AskFirst, type Visibility, visibilityAt } from "../../../mcp/protocol/principal.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Admission } from "../admission.ts";
import { outcomeOf } from "../outcome.ts";
import { askClient, maySelfAnswer } from "./approval-question.ts";

export interface ApprovalParts {
  readonly approvals: Approvals;
  readonly access: Pick<Access, "placeOf">;
  readonly admission: Admission;
  /** Patterns of the clients whose own consent counts. */
  readonly trusted: () => readonly string[];
  /** Sends the call to its server. */
  readonly send: (flight: Flight, route: Route, params: string) => Promise<Answer>;
}

/** A server's own progress goes on above the steps of the wait. */
const PROGRESS_STEP = 1e-6;
const INPUT_REQUIRED = '"input_required"';

export class Approval {
  readonly #parts: ApprovalParts;

  constructor(parts: ApprovalParts) {
    this.#parts = parts;
  }

  /** Sends the call as soon as it is allowed. @throws GoblinError if it is not */
  async send(flight: Flight, route: Route, first: AskFirst): Promise<Answer> {
    const { approvals, send } = this.#parts;
    let asked: string | AskFirst = first;
    for (;;) {
      if (typeof asked === "string") return send(flight, route, forServer(flight, route, asked));
      const asker = askerOf(flight, route);
      const lock = approvals.lockOf?.({ server: asker.serverId, kind: asker.kind, name: asker.name });
      const { subject } = subjectOf({ ...asker, asked, lock });
      const grant = approvals.take(subject);
      if (grant) return this.#run(flight, route, { grant, subject, params: asked.params });
      await this.#hold(flight, { subject, asked });
      asked = this.#admitted(flight, route);
    }
  }

  async #run(flight: Flight, route: Route, given: { grant: Grant; subject: Subject; params: string }): Promise<Answer> {
    const { approvals, send } = this.#parts;
    const { grant, subject, params } = given;
    const { call } = flight;
    const { requestId } = call;
    await approvals.executed(grant, { subject, requestId });
    let isUndone = false;
    let outcome = "error";
    try {
      // Recording takes a moment, in which the client may have gone.
      if (call.cancelled) {
        isUndone = true;
        outcome = "cancelled";
        throw new GoblinError("CANCELLED", "Cancelled by the client");
      }
      const answer = await send(flight, route, forServer(flight, route, params));
      isUndone = wasNotRun(answer);
      outcome = outcomeOf(call, answer);
      return answer;
    } finally {
      approvals.returned(grant, { outcome, requestId, isUndone });
    }
  }

  /** Resolves when a person has allowed the call. */
  async #hold(flight: Flight, given: { subject: Subject; asked: AskFirst }): Promise<void> {
    const { approvals, trusted } = this.#parts;
    const { call, deadline } = flight;
    const { subject, asked } = given;
    const args = subject.kind === "resource" ? undefined : memberText(asked.params, "arguments");
    if (call.cancelled) throw new GoblinError("CANCELLED", "Cancelled by the client");
    if (approvals.isAlone && !maySelfAnswer(call, trusted())) throw nobodyThere(subject.shownName);
    const began = performance.now();
    const over = new AbortController();
    const waiting = `Waiting for a person to approve ${subject.shownName}`;
    let steps = 0;
    const tell = (): void => {
      const progressToken = call.progressToken;
      if (progressToken === undefined) return;
      const progress = ++steps * PROGRESS_STEP;
      const params = { progressToken, progress, message: waiting };
      call.emit(notificationText("notifications/progress", JSON.stringify(params)));
    };
    deadline?.hold();
    let record: ApprovalRecord | undefined;
    try {
      record = await new Promise<ApprovalRecord>((resolve) => {
        const bytes = Buffer.byteLength(asked.params);
        const held = approvals.hold({
          subject,
          args: args ?? "{}",
          bytes,
          account: call.client.account,
          tell,
          end: () => resolve(held),
        });
        call.whenHeld?.({ approval: held.id, message: waiting });
        askClient(call, held, { approvals, trusted, signal: over.signal });
        call.onCancel((reason) => approvals.end(held.id, reason === "shutdown" ? "shutdown" : "cancelled"));
      });
    } finally {
      over.abort("the question was answered elsewhere, or is over");
      deadline?.release();
      call.heldMs += performance.now() - began;
    }
    if (record.state !== "allowed") {
      flight.rule = asked.rule;
      throw refusal(record);
    }
    if (call.cancelled) throw new GoblinError("CANCELLED", "Cancelled by the client");
    if (call.who.expiresAt <= Date.now()) throw notApproved(record, "the client's token has expired meanwhile");
    call.task?.goesOn();
  }

  /** Asks the rules again: they may have changed while the call waited. */
  #admitted(flight: Flight, route: Route): string | AskFirst {
    const { client, who } = flight.call;
    const { serverId, target, name, snapshot } = route;
    const kind = kindOf(route);
    let visibility: Visibility | undefined = client.visibility;
    if (!client.hasSession) {
      const place = this.#parts.access.placeOf(client.endpoint, who);
      if (!place) throw gone(name);
      visibility = visibilityAt(place, client.info);
    }
    const list = kind === "tool" ? snapshot.tools : kind === "prompt" ? snapshot.prompts : undefined;
    const definition = list?.find(name)?.definition.value;
    const entry = { serverId, kind, name: target, definition };
    if (visibility && !(visibility.showsServer(serverId) && visibility.shows(entry))) throw gone(name);
    return this.#parts.admission.params(flight, route, visibility);
  }
}

/**
 * Returns the params for the server. A call that is a task of the gateway is one of its server too
 * only if the tool says that it can be.
 */
function forServer({ call }: Flight, { snapshot, name }: Route, params: string): string {
  if (!call.task) return params;
  const { taskSupport } = recordOf(snapshot.tools.find(name)?.definition.value["execution"]);
  const isTask = taskSupport === "optional" || taskSupport === "required";
  return isTask ? params : dropMembers(params, (key) => key === "task");
}

function askerOf({ call }: Flight, route: Route) {
  const { serverId, target, name: shownName } = route;
  return { client: call.client, who: call.who, serverId, kind: kindOf(route), name: target, shownName };
}

/** The policy asks about nothing else. */
function kindOf({ spec }: Route): Subject["kind"] {
  return spec.names === "prompt" || spec.names === "resource" ? spec.names : "tool";
}

/** Whether the server surely did nothing: it must be asked again, and nobody about it. */
function wasNotRun(answer: Answer): boolean {
  if (!answer.ok) return answer.unsent === true || answer.symbol === "LOGIN_REQUIRED";
  return answer.raw.includes(INPUT_REQUIRED) && memberText(rawText(answer.raw), "resultType") === INPUT_REQUIRED;
}
