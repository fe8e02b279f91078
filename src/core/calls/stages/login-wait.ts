/**
 * Lets a call go on by itself after a login. A client that repeats its request because it opened a
 * link may be faster than its user. So the request waits for the login, and then goes to its server
 * once more. Its timeout does not run meanwhile. The wait is shorter than the patience of common
 * clients; after it the client is asked again.
 */
import type { Call } from "../../../mcp/protocol/call.ts";
import { GoblinError } from "../../../mcp/protocol/errors.ts";
import type { Flight } from "../../../mcp/protocol/flight.ts";
import type { Answer } from "../../../mcp/protocol/json-rpc.ts";
import type { Servers } from "../../../upstream/servers/servers.ts";
import type { Route } from "../../routing/resolve.ts";
import type { Send, Stage } from "../compose.ts";

interface Waiter {
  readonly serverId: string;
  readonly principal: string;
  readonly end: (isDone: boolean) => void;
}

const WAIT_MS = 45_000;

export class LoginWait implements Stage {
  readonly #waiters = new Set<Waiter>();

  constructor(servers: Servers) {
    servers.on("loggedIn", (serverId, owner) => {
      for (const waiter of this.#waiters) {
        if (waiter.serverId === serverId && (owner === "" || owner === waiter.principal)) waiter.end(true);
      }
    });
  }

  leave(flight: Flight, route: Route, answer: Answer, again: Send): Answer | Promise<Answer> {
    if (answer.ok || answer.symbol !== "LOGIN_REQUIRED" || flight.call.links !== "opened") return answer;
    return this.#afterLogin(flight, route, answer, again);
  }

  /**
   * Resolves when somebody has logged in to the server that refused the call, to whether that was
   * in time. Undefined: there is nothing to wait for.
   */
  after(call: Call, error: unknown): Promise<boolean> | undefined {
    if (call.links !== "opened" || !(error instanceof GoblinError) || error.code !== "LOGIN_REQUIRED") return undefined;
    const serverId = error.data?.["serverId"];
    return typeof serverId === "string" ? this.#login(call, serverId) : undefined;
  }

  async #afterLogin(flight: Flight, route: Route, answer: Answer, again: Send): Promise<Answer> {
    const { call, deadline } = flight;
    deadline?.asks();
    const isDone = await this.#login(call, route.serverId);
    deadline?.answered(true);
    return isDone && !call.cancelled ? again(flight, route) : answer;
  }

  #login(call: Call, serverId: string): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isDone: boolean): void => {
        clearTimeout(late);
        this.#waiters.delete(waiter);
        resolve(isDone);
      };
      const late = setTimeout(() => end(false), WAIT_MS).unref();
      const waiter: Waiter = { serverId, principal: call.client.principal, end };
      this.#waiters.add(waiter);
      call.onCancel(() => end(false));
    });
  }
}
