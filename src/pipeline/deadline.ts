/**
 * The time limit of a request. Progress from the server starts the clock anew, up to a limit on the whole; when it runs out the
 * request is cancelled at the server and answered with a timeout error, even if the server never reacts.
 */
import { GoblinError } from "../model/errors.ts";
import { type Answer, failure } from "../model/json-rpc.ts";
import type { Stage } from "./compose.ts";

export interface DeadlineOptions {
  /** The limit for this server, or for this tool where it has its own. */
  readonly limitMs: (serverId: string, toolLimitMs: number | undefined) => number;
  readonly maxMs: () => number;
}

export function deadline({ limitMs, maxMs }: DeadlineOptions): Stage {
  return (call, route, next) => {
    const limit = limitMs(route.serverId, route.timeoutMs);
    return new Promise<Answer>((resolve) => {
      const started = Date.now();
      const expire = (): void => {
        const ms = Date.now() - started;
        const message = `Timeout: ${route.name} of server "${route.serverId}" gave no answer within ${ms} ms`;
        const error = new GoblinError(route.spec.timeout, message, {
          data: { serverId: route.serverId, timeoutMs: limit },
        });
        call.cancel("timeout");
        resolve(failure(error, { requestId: call.requestId }));
      };
      let timer = setTimeout(expire, limit);
      const restart = (ms: number): void => {
        clearTimeout(timer);
        timer = setTimeout(expire, Math.max(0, Math.min(ms, started + maxMs() - Date.now())));
      };
      call.onProgress = () => restart(limit);
      // A person who is asked something may take their time; only the limit on the whole goes on.
      call.onQuestion = (waiting) => restart(waiting ? maxMs() : limit);
      next(call, route).then(
        (answer) => {
          clearTimeout(timer);
          resolve(answer);
        },
        (error: unknown) => {
          clearTimeout(timer);
          resolve(failure(error));
        },
      );
    });
  };
}
