/**
 * The single entrance for requests. A request takes one of four branches. The catalog's prepared
 * bytes answer a list. The gateway itself answers its own tools, and requests about the client's
 * subscriptions and tasks. All requests for a server's tool, prompt, resource or extension pass the
 * stages to that server.
 *
 * `handle` never rejects: a failure becomes an error answer. Every request is counted exactly once.
 */

import type { Access } from "../../auth/access/access.ts";
import type { Approvals } from "../../auth/approvals/approvals.ts";
import type { LiveConfig } from "../../config/live-config.ts";
import type { Call } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import { Flight } from "../../mcp/protocol/flight.ts";
import { type Answer, failure } from "../../mcp/protocol/json-rpc.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import { type ListMethod, listMethods, type RoutedMethod, routedMethods } from "../../mcp/protocol/methods.ts";
import type { Tracing } from "../../observe/otel/tracing.ts";
import type { Recorder } from "../../observe/recording/recorder.ts";
import type { KeptCalls } from "../../observe/telemetry/kept-calls.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import type { Masker } from "../../observe/telemetry/masker.ts";
import type { Catalog } from "../../upstream/catalog/catalog.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import type { Servers } from "../../upstream/servers/servers.ts";
import type { Waiting } from "../../upstream/servers/waiting.ts";
import type { Masking } from "../masking/masking.ts";
import type { LocalTools } from "../meta/registry.ts";
import type { Results } from "../results/results.ts";
import { EXTENSION, resolveExtension } from "../routing/extension.ts";
import { LateRoute } from "../routing/late-route.ts";
import type { Route } from "../routing/resolve.ts";
import type { SeenUris } from "../routing/seen-uris.ts";
import { resolveSeen } from "../routing/seen-uris.ts";
import type { HeldTasks } from "../session/held/held-tasks.ts";
import type { ServerStates } from "../session/request-state.ts";
import type { ResourceSubscriptions } from "../session/resource-subscriptions.ts";
import type { Tasks } from "../session/tasks.ts";
import { compose, type Send, type Stage } from "./compose.ts";
import { ExtensionOwners } from "./extension-owners.ts";
import { outcomeOf } from "./outcome.ts";
import { Admission } from "./stages/admission.ts";
import { Approval } from "./stages/approval.ts";
import { ArgumentHelp } from "./stages/argument-help.ts";
import type { Audit } from "./stages/audit.ts";
import { Deadlines } from "./stages/deadline.ts";
import { FailureLog } from "./stages/failure-log.ts";
import { InFlight } from "./stages/in-flight.ts";
import { LateRoutes } from "./stages/late-routes.ts";
import { ClientLimits } from "./stages/limits.ts";
import type { LoginLink } from "./stages/login-link.ts";
import type { LoginWait } from "./stages/login-wait.ts";
import type { CallMetrics } from "./stages/metrics.ts";
import { Output } from "./stages/output.ts";
import { RecorderStage } from "./stages/recorder.ts";
import { OpenState, ReturnState } from "./stages/server-state.ts";
import { TracingStage } from "./stages/tracing.ts";
import { TaskMethods } from "./task-methods.ts";

type Respond = (flight: Flight) => Promise<Answer>;

export interface RelayParts {
  readonly config: LiveConfig;
  readonly catalog: Catalog;
  readonly servers: Servers;
  readonly waiting: Waiting;
  readonly seen: SeenUris;
  readonly localTools: LocalTools;
  readonly resourceSubscriptions: ResourceSubscriptions;
  readonly tasks: Tasks;
  readonly heldTasks: HeldTasks;
  readonly states: ServerStates;
  readonly access: Pick<Access, "placeOf">;
  readonly approvals: Approvals;
  readonly recorder: Recorder;
  readonly keptCalls: Pick<KeptCalls, "isOn">;
  readonly metrics: CallMetrics;
  /** Undefined: there is no audit log. */
  readonly audit: Audit | undefined;
  /** Undefined: there is no collector. */
  readonly tracing: Tracing | undefined;
  readonly results: Results;
  readonly masking: Masking;
  readonly masker: Masker;
  /** Undefined: there is no page where users log in to servers. */
  readonly loginLink: LoginLink | undefined;
  readonly loginWait: LoginWait | undefined;
  readonly onLimit: OnLimit;
  readonly log: Logger;
}

export class Relay {
  readonly limits: ClientLimits;
  readonly #parts: RelayParts;
  /** Requests about the client's own subscriptions. */
  readonly #clientMethods: ReadonlyMap<string, Respond>;
  readonly #inFlight = new InFlight();
  readonly #owners: ExtensionOwners;
  readonly #taskMethods: TaskMethods;
  readonly #route: Send;
  /**
   * For requests that the gateway makes to answer a client's request: they are not counted again.
   */
  readonly #routeInner: Send;

  constructor(parts: RelayParts) {
    const { config, servers, resourceSubscriptions, tasks, states, masker, seen, onLimit, log } = parts;
    this.#parts = parts;
    this.limits = new ClientLimits(config, onLimit);
    this.#clientMethods = new Map([
      ["resources/subscribe", (flight) => resourceSubscriptions.subscribeSession(flight)],
      ["resources/unsubscribe", (flight) => resourceSubscriptions.unsubscribeSession(flight)],
    ]);
    this.#owners = new ExtensionOwners(parts);
    this.#taskMethods = new TaskMethods({
      tasks,
      heldTasks: parts.heldTasks,
      send: (call) => this.#sendInner(call),
      owners: this.#owners,
      mostWaiting: () => config.current.limits.inFlightPerSession,
      onLimit,
    });
    const admission = new Admission(log);
    const trusted = (): readonly string[] => config.current.approvals.trustClients;
    const stages: readonly (Stage | undefined)[] = [
      new RecorderStage(parts.recorder),
      parts.loginLink,
      this.#inFlight,
      parts.metrics,
      parts.audit,
      new FailureLog(log),
      this.limits,
      parts.results,
      new LateRoutes(parts.waiting),
      new OpenState(states),
      parts.masking,
      new Deadlines(config, servers.roster),
      new ArgumentHelp(),
      new Output({ tasks, masker, roster: servers.roster, seen, states }),
      parts.loginWait,
      admission,
      new Approval({ ...parts, admission, trusted }),
      new ReturnState(),
      parts.tracing && new TracingStage(parts.tracing),
    ];
    const isUsed = (stage: Stage | undefined): stage is Stage => stage !== undefined;
    const toServer = createSender(servers);
    this.#route = compose(stages.filter(isUsed), toServer);
    // The result of a task is shaped and masked like that of a call.
    this.#routeInner = compose(stages.slice(stages.indexOf(parts.results)).filter(isUsed), toServer);
  }

  handle(call: Call): Promise<Answer> {
    const flight = new Flight(call);
    const { keptCalls, recorder } = this.#parts;
    call.keepsEmitted = keptCalls.isOn;
    if (!recorder.isOn) return this.#handle(flight);
    recorder.began(flight);
    const answered = this.#handle(flight);
    // The stage tells the end of a routed one, without another promise.
    if (flight.isRouted) return answered;
    return answered.then((answer) => {
      recorder.ended(flight, answer, outcomeOf(call, answer));
      return answer;
    });
  }

  #handle(flight: Flight): Promise<Answer> {
    const { call } = flight;
    // What a client sees is built once for all clients that see the same, and then at hand.
    const waits = call.client.visibility && this.#parts.catalog.ready(call.client);
    return waits ? waits.then(() => this.#begin(flight)) : this.#begin(flight);
  }

  #begin(flight: Flight): Promise<Answer> {
    const refuse = (error: unknown): Promise<Answer> =>
      Promise.resolve(this.#refuse(flight, this.#parts.servers.ownProblem(error, flight.call.client) ?? error));
    try {
      return this.#answer(flight);
    } catch (error) {
      const later = this.#later(flight.call, error);
      return later
        ? later.then((isThere) => (isThere ? this.#answer(flight) : refuse(error))).catch(refuse)
        : refuse(error);
    }
  }

  /**
   * Resolves when a request that was refused for want of a login may be answered, to whether it may
   * be. Undefined: nothing is to be waited for.
   */
  #later(call: Call, error: unknown): Promise<boolean> | undefined {
    if (!(error instanceof GoblinError) || error.code !== "LOGIN_REQUIRED") return undefined;
    const { servers, catalog } = this.#parts;
    const started = servers.ownStart(error, call.client);
    if (started) return started.then(() => true);
    if (servers.hasLogin(error)) return catalog.caughtUp().then(() => true);
    return this.#parts.loginWait?.after(call, error)?.then(async (isDone) => {
      if (isDone) await Promise.all([servers.arrivals.ownLists(call.client), catalog.caughtUp()]);
      return isDone;
    });
  }

  /**
   * Ends the calls that wait for a person, and waits at most this long for the others in flight;
   * then cancels the rest. Undefined: waits for none, and cancels none.
   */
  async drain(ms: number | undefined): Promise<void> {
    await this.#parts.approvals.close();
    if (ms !== undefined) return this.#inFlight.drain(ms);
  }

  #answer(flight: Flight): Promise<Answer> {
    const { localTools, servers, catalog, results } = this.#parts;
    const { call } = flight;
    const routed = routedMethods.get(call.method);
    if (routed) {
      const tool = routed.names === "tool" ? localTools.find(call) : undefined;
      if (tool) return this.#answerLocally(flight, () => tool(call, this));
      const kept = routed.names === "resource" ? results.answer(call, catalog.view(call.client)) : undefined;
      if (kept) return this.#answerLocally(flight, () => kept);
      return this.#send(flight, this.#find(call, routed));
    }
    const list = listMethods.get(call.method);
    if (list) {
      const waits = servers.arrivals.listsFor(call);
      if (!waits) return Promise.resolve(this.#list(flight, list));
      return waits.then(() => this.#list(flight, list)).catch((error) => this.#refuse(flight, error));
    }
    const respond = this.#clientMethods.get(call.method);
    if (respond) return this.#answerLocally(flight, respond);
    const ofTask = this.#taskMethods.find(call);
    if (ofTask) return this.#answerLocally(flight, async () => ofTask(call));
    if (this.#owners.has(call)) return this.#send(flight, this.#find(call, EXTENSION));
    throw new GoblinError("METHOD_NOT_FOUND", `Method not found: ${call.method.slice(0, 100)}`);
  }

  #list(flight: Flight, { kind }: ListMethod): Answer {
    const { call } = flight;
    const raw = this.#parts.catalog.view(call.client).pagers[kind].page(call.params["cursor"]);
    const answer: Answer = { ok: true, raw };
    this.#parts.metrics.listed(flight, answer);
    this.#parts.servers.listRead(call.client.key);
    return answer;
  }

  /** Returns the route of a request. If its server is still starting, the route is found later. */
  #find(call: Call, spec: RoutedMethod): Route {
    const snapshot = this.#parts.catalog.view(call.client);
    const find = (newest: Snapshot): Route =>
      spec === EXTENSION
        ? resolveExtension(call, { owners: this.#owners.of(call), snapshot: newest, tasks: this.#parts.tasks })
        : resolveSeen(call, spec, { snapshot: newest, seen: this.#parts.seen });
    try {
      return find(snapshot);
    } catch (error) {
      const serverId = error instanceof GoblinError ? error.awaits?.[0] : undefined;
      if (serverId === undefined) throw error;
      return new LateRoute(call, spec, { serverId, snapshot, find });
    }
  }

  /** Sends a request that the gateway makes for another one. Never rejects. */
  async #sendInner(call: Call): Promise<Answer> {
    try {
      return await this.#routeInner(new Flight(call), this.#find(call, EXTENSION));
    } catch (error) {
      return failure(error);
    }
  }

  #send(flight: Flight, route: Route): Promise<Answer> {
    flight.serverId = route.serverId;
    flight.target = route.target;
    flight.isRouted = true;
    return this.#route(flight, route);
  }

  /** Answers a request in the gateway itself, which may still involve a server. */
  async #answerLocally(flight: Flight, respond: Respond): Promise<Answer> {
    this.#inFlight.add(flight);
    const end = this.#parts.metrics.local(flight);
    let answer: Answer;
    try {
      answer = await respond(flight);
    } catch (error) {
      answer = failure(error, { requestId: flight.call.requestId });
      this.#parts.audit?.record(flight, answer);
    }
    this.#inFlight.remove(flight);
    end(answer);
    return this.#parts.loginLink?.leave(flight, undefined, answer) ?? answer;
  }

  #refuse(flight: Flight, error: unknown): Answer | Promise<Answer> {
    const { method, requestId } = flight.call;
    const answer = failure(error, { requestId });
    this.#parts.metrics.refused(flight, answer);
    this.#parts.audit?.record(flight, answer);
    this.#parts.log.debug({ method, requestId, code: answer.code }, "refused");
    return this.#parts.loginLink?.leave(flight, undefined, answer) ?? answer;
  }
}

/** Hands requests to their servers, after the last stage. */
export function createSender(servers: Pick<Servers, "forward">): Send {
  return (flight, route) => {
    if (flight.asksFirst) throw new Error(`${route.name} needs an approval, and no stage asked for it`);
    return servers.forward(route.serverId, flight.call.method, route.params, flight);
  };
}
