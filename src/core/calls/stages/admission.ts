/**
 * Asks the policy about a request's arguments, after every stage that may change them: the server
 * gets what passes here. Requests of clients without such rules pass at once. A request that a
 * person must allow is marked (`asksFirst`) for `Approval`.
 *
 * Invariant: neither the log nor the audit file gets an argument's value from here.
 */
import { cannotWait } from "../../../auth/approvals/refusal.ts";
import { memberText } from "../../../lib/json/json-text.ts";
import { recordOf } from "../../../lib/structures/record.ts";
import { Throttle } from "../../../lib/timing/throttle.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import type { Answer } from "../../../mcp/protocol/json-rpc.ts";
import type { AskFirst, Visibility } from "../../../mcp/protocol/principal.ts";
import type { Logger } from "../../../observe/telemetry/logger.ts";
import { Refusal } from "../../../policy/arguments/admit.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Send, Stage } from "../compose.ts";

/** A URI that a request names without reading it. */
interface NamedUri {
  readonly serverId: string;
  /** The server's own. */
  readonly uri: string;
  readonly shownName: string;
  readonly what: "completion" | "an extension";
}

export class Admission implements Stage {
  readonly #log: Pick<Logger, "warn">;
  /** A client chooses the arguments, and so how often a condition cannot be evaluated. */
  readonly #lines = new Throttle({ burst: 10, everyMs: 60_000 });

  constructor(log: Pick<Logger, "warn">) {
    this.#log = log;
  }

  send(flight: Flight, route: Route, next: Send): Promise<Answer> {
    const given = this.params(flight, route);
    if (typeof given === "string") return next(flight, given === route.params ? route : { ...route, params: given });
    flight.asksFirst = given;
    return next(flight, route);
  }

  /** Returns the params for the server. @throws GoblinError if a rule refuses the request */
  params(flight: Flight, route: Route, visibility = flight.call.client.visibility): string | AskFirst {
    const { admit } = visibility ?? {};
    const kind = route.spec.names;
    if (!admit) return route.params;
    if (kind === "extension") return this.#extended(flight, route, visibility!);
    if (kind === "reference") return this.#completed(flight, route, visibility!);
    const { serverId, target, name, snapshot, params } = route;
    const list = kind === "tool" ? snapshot.tools : kind === "prompt" ? snapshot.prompts : undefined;
    const definition = list?.find(name)?.definition.value;
    const who = flight.call.who;
    return this.#asked(flight, () => admit({ serverId, kind, name: target, definition, who, params, shownName: name }));
  }

  #asked(flight: Flight, admit: () => string | AskFirst): string | AskFirst {
    try {
      return admit();
    } catch (error) {
      if (error instanceof Refusal) this.#note(flight, error);
      throw error;
    }
  }

  /** Completion names what it completes, without the arguments that it would be used with. */
  #completed(flight: Flight, { serverId, target, name, snapshot, params }: Route, visibility: Visibility): string {
    const { params: given } = flight.call;
    const isPrompt = recordOf(given["ref"])["type"] === "ref/prompt";
    if (isPrompt) {
      const definition = snapshot.prompts.find(name)?.definition.value;
      if (visibility.asks?.({ serverId, kind: "prompt", name: target, definition }))
        throw cannotWait(name, "completion");
      return params;
    }
    this.#judgeUri(flight, { serverId, uri: target, shownName: name, what: "completion" }, visibility);
    return params;
  }

  /** A method of an extension that names a URI is judged like a read of it. */
  #extended(flight: Flight, { serverId, params }: Route, visibility: Visibility): string {
    const { uri: shownName } = flight.call.params;
    if (typeof shownName !== "string") return params;
    const uri = JSON.parse(memberText(params, "uri")!) as string;
    this.#judgeUri(flight, { serverId, uri, shownName, what: "an extension" }, visibility);
    return params;
  }

  /** @throws GoblinError if a rule refuses the URI, or a person would have to be asked */
  #judgeUri(flight: Flight, about: NamedUri, visibility: Visibility): void {
    const { serverId, uri: name, shownName, what } = about;
    const { who } = flight.call;
    const resource = { serverId, kind: "resource", name, definition: undefined } as const;
    const admitted = this.#asked(flight, () => visibility.admit!({ ...resource, who, params: "{}", shownName }));
    if (typeof admitted !== "string") throw cannotWait(shownName, what);
  }

  #note(flight: Flight, { rule, problem }: Refusal): void {
    flight.rule = rule?.name ?? "policy.default";
    const heldBack = problem === undefined ? undefined : this.#lines.pass();
    if (heldBack === undefined) return;
    const { requestId, who } = flight.call;
    const { serverId, target } = flight;
    this.#log.warn(
      { server: serverId, tool: target, rule: rule?.name, who: who.name, requestId },
      `denied: ${problem}`,
    );
  }
}
