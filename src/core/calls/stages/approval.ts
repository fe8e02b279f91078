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
import { begunWith, wantsInput } from "../../../auth/approvals/continuations.ts";
import type { ApprovalRecord, Grant } from "../../../auth/approvals/record.ts";
import { gone, nobodyThere, notApproved, refusal } from "../../../auth/approvals/refusal.ts";
import { type Subject, subjectOf } from "../../../auth/approvals/subject.ts";
import { dropMembers, memberText } from "../../../lib/json/json-text.ts";
import { recordOf } from "../../../lib/structures/record.ts";
import { type ErrorCode, GoblinError } from "../../../mcp/protocol/errors.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import { type Answer, notificationText, rawText } from "../../../mcp/protocol/json-rpc.ts";
import { type AskFirst, type Visibility, visibilityAt } from "../../../mcp/protocol/principal.ts";
import type { Catalog } from "../../../upstream/catalog/catalog.ts";
import type { Snapshot } from "../../../upstream/catalog/snapshot.ts";
import type { Waiting } from "../../../upstream/servers/waiting.ts";
import type { Route } from "../../routing/resolve.ts";
import { resolveSeen, type SeenUris } from "../../routing/seen-uris.ts";
import type { Send, Stage } from "../compose.ts";
import { outcomeOf } from "../outcome.ts";
import type { Admission } from "./admission.ts";
import { askClient, maySelfAnswer } from "./approval-question.ts";

export interface ApprovalParts {
  readonly approvals: Approvals;
  readonly access: Pick<Access, "placeOf">;
  readonly admission: Admission;
  /** Patterns of the clients whose own consent counts. */
  readonly trusted: () => readonly string[];
  readonly catalog: Pick<Catalog, "caughtUp">;
  readonly waiting: Waiting;
  readonly seen: SeenUris;
}

interface AllowedCall {
  readonly grant: Grant;
  /** The call without the input that its client sends later. */
  readonly first: Subject;
  /** The params for the server. */
  readonly params: string;
  /** Whether it goes on with input that its server wanted. */
  readonly isResumed: boolean;
  readonly next: Send;
}

/** What a call is answered with if there is no such thing. */
const GONE: ReadonlySet<ErrorCode> = new Set(["TOOL_NOT_FOUND", "PROMPT_NOT_FOUND", "RESOURCE_NOT_FOUND", "AMBIGUOUS"]);
/** A server's own progress goes on above the steps of the wait. */
const PROGRESS_STEP = 1e-6;

export class Approval implements Stage {
  readonly #parts: ApprovalParts;

  constructor(parts: ApprovalParts) {
    this.#parts = parts;
  }

  send(flight: Flight, route: Route, next: Send): Promise<Answer> {
    const { asksFirst } = flight;
    if (asksFirst === undefined) return next(flight, route);
    flight.asksFirst = undefined;
    return this.#sendAllowed(flight, { found: route, needed: asksFirst, next });
  }

  /** Sends the call as soon as it is allowed. @throws GoblinError if it is not */
  async #sendAllowed(
    flight: Flight,
    { found, needed, next }: { readonly found: Route; readonly needed: AskFirst; readonly next: Send },
  ): Promise<Answer> {
    const { approvals } = this.#parts;
    let route = found;
    let asked: string | AskFirst = needed;
    for (;;) {
      if (typeof asked === "string") return next(flight, forServer(flight, route, asked));
      const asker = askerOf(flight, route);
      const lock = approvals.lockOf(asker.serverId);
      const { subject } = subjectOf({ ...asker, asked, lock });
      const { requestId } = flight.call;
      const { params } = asked;
      const begun = begunWith(params);
      const first =
        begun === undefined ? subject : subjectOf({ ...asker, asked: { ...asked, params: begun }, lock }).subject;
      const resumed = begun === undefined ? undefined : await approvals.resume(first, flight.serverState, requestId);
      if (resumed) return this.#run(flight, route, { grant: resumed, first, params, isResumed: true, next });
      const grant = approvals.take(subject);
      if (grant) {
        await approvals.executed(grant, { subject, requestId });
        return this.#run(flight, route, { grant, first, params, isResumed: false, next });
      }
      await this.#hold(flight, { subject, asked });
      ({ route, asked } = await this.#admitted(flight, route));
    }
  }

  async #run(flight: Flight, route: Route, given: AllowedCall): Promise<Answer> {
    const { approvals } = this.#parts;
    const { grant, first, params, isResumed, next } = given;
    const { call } = flight;
    const { requestId } = call;
    let isUndone = false;
    let outcome = "error";
    try {
      // Recording takes a moment, in which the client may have gone.
      if (call.cancelled) {
        isUndone = true;
        outcome = "cancelled";
        throw new GoblinError("CANCELLED", "Cancelled by the client");
      }
      const answer = await next(flight, forServer(flight, route, params));
      isUndone = !answer.ok && answer.unsent === true;
      outcome = outcomeOf(call, answer);
      if (answer.ok && wantsInput(answer.raw)) {
        approvals.awaitsInput(first, memberText(rawText(answer.raw), "requestState"), grant);
      }
      return answer;
    } finally {
      // A call that goes on has no use of its grant to give back: it can go on later.
      if (isResumed && isUndone) approvals.awaitsInput(first, flight.serverState, grant);
      approvals.returned(grant, { outcome, requestId, isUndone: isUndone && !isResumed });
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

  /**
   * Asks again what the call depends on: catalog, lock, rules and profile may have changed while it
   * waited.
   */
  async #admitted(flight: Flight, route: Route): Promise<{ route: Route; asked: string | AskFirst }> {
    const { client, who } = flight.call;
    const { serverId, target, name } = route;
    let visibility: Visibility | undefined = client.visibility;
    if (!client.hasSession) {
      const place = this.#parts.access.placeOf(client.endpoint, who);
      if (!place) throw gone(name);
      visibility = visibilityAt(place, client.info);
    }
    const newest = await this.#findAgain(flight, route, visibility).catch((error: unknown) => {
      if (error instanceof GoblinError && GONE.has(error.code)) throw gone(name);
      throw error;
    });
    if (newest.serverId !== serverId || newest.target !== target) throw gone(name);
    // The params stay: masking has seen them already.
    const now = { ...route, snapshot: newest.snapshot };
    return { route: now, asked: this.#parts.admission.params(flight, now, visibility) };
  }

  /** Finds the call's route in the newest catalog, as a client of this visibility sees it. */
  async #findAgain({ call, deadline }: Flight, { spec }: Route, visibility: Visibility | undefined): Promise<Route> {
    const { catalog, waiting, seen } = this.#parts;
    const { key, principal } = call.client;
    await catalog.caughtUp();
    const find = (snapshot: Snapshot): Route => resolveSeen(call, spec, { snapshot, seen });
    return waiting.found(find, { client: { key, principal, visibility }, call, deadline });
  }
}

/**
 * Returns the route with the allowed params. A call that is a task of the gateway becomes a task of
 * its server only if the tool supports tasks.
 */
function forServer({ call }: Flight, route: Route, params: string): Route {
  if (!call.task) return { ...route, params };
  const { taskSupport } = recordOf(route.snapshot.tools.find(route.name)?.definition.value["execution"]);
  const isTask = taskSupport === "optional" || taskSupport === "required";
  return { ...route, params: isTask ? params : dropMembers(params, (key) => key === "task") };
}

function askerOf({ call }: Flight, route: Route) {
  const { serverId, target, name: shownName } = route;
  return { client: call.client, who: call.who, serverId, kind: kindOf(route), name: target, shownName };
}

/** The policy asks about nothing else. */
function kindOf({ spec }: Route): Subject["kind"] {
  return spec.names === "prompt" || spec.names === "resource" ? spec.names : "tool";
}
