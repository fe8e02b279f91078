/**
 * Writes to the log what happens to one server: each state once, in words, with its reason.
 *
 * A server that fails again for the same reason is not reported again, nor is what it then repeats
 * on stderr. Numbers do not make a reason new: process ids and times differ at each start. A start
 * that takes long is reported from time to time with the time that is left.
 */
import { isStarting } from "../../../mcp/protocol/server-states.ts";
import type { Logger } from "../../../observe/telemetry/logger.ts";
import type { BackendStatus } from "../backend.ts";
import { createStderrLevels } from "./stderr-level.ts";

const REMEMBERED_LINES = 200;
const REMEMBERED_CHARS = 300;
const STILL_MS = 30_000;

export interface StateLogOptions {
  readonly serverId: string;
  readonly log: Logger;
  readonly status: () => BackendStatus;
}

export class StateLog {
  readonly #options: StateLogOptions;
  readonly #levelOf = createStderrLevels();
  /** The last reported state and reason. */
  #told = "";
  /** What the program has said on stderr: at this start, and at earlier ones since it was up. */
  readonly #heard = new Set<string>();
  readonly #heardBefore = new Set<string>();
  #stillTimer: NodeJS.Timeout | undefined;

  constructor(options: StateLogOptions) {
    this.#options = options;
  }

  changed(status: BackendStatus): void {
    const { state, reason } = status;
    const starts = isStarting(state);
    if (starts) this.#stillTimer ??= setInterval(() => this.#still(), STILL_MS).unref();
    else this.close();
    if (state === "ready" || state === "degraded") this.#heardBefore.clear();
    if (state === "down") this.#remember();
    // The end of a server is news only where it was asked for, and there it is told.
    if (state === "disabled") {
      this.#told = "";
      return;
    }
    // A retry is not news; its outcome may be. What is installing is known a moment later.
    if (starts && (this.#told !== "" || (state === "installing" && reason === undefined))) return;
    const now = `${state} ${starts ? "" : withoutNumbers(reason ?? "")}`;
    if (now === this.#told) return;
    this.#told = now;
    this.#tell(status);
  }

  /** Logs a line of stderr that is news, at the level it seems to have. */
  stderr(line: string): void {
    const { log, serverId } = this.#options;
    const level = this.#levelOf(line);
    if (this.isNews(line)) log[level]({ server: serverId, stream: "stderr" }, line);
  }

  /** Returns whether the program has not said this at an earlier start that failed. */
  isNews(text: string): boolean {
    const known = withoutNumbers(text.slice(0, REMEMBERED_CHARS));
    if (this.#heardBefore.has(known)) return false;
    if (this.#heard.size < REMEMBERED_LINES) this.#heard.add(known);
    return true;
  }

  close(): void {
    clearInterval(this.#stillTimer);
    this.#stillTimer = undefined;
  }

  #remember(): void {
    for (const line of this.#heard) if (this.#heardBefore.size < REMEMBERED_LINES) this.#heardBefore.add(line);
    this.#heard.clear();
  }

  #tell({ state, reason, retryAfterMs }: BackendStatus): void {
    const { log, serverId } = this.#options;
    const detail = { server: serverId, state, ...(reason !== undefined && { reason }) };
    const words = reason === undefined ? state : `${state}: ${reason}`;
    if (state === "down") {
      const retry = retryAfterMs === undefined ? "" : ` (retry in ${seconds(retryAfterMs)})`;
      log.warn({ ...detail, retryInMs: retryAfterMs }, words + retry);
    } else if (state === "degraded" || state === "needs-login" || state === "invalid") log.warn(detail, words);
    else log.info(detail, words);
  }

  #still(): void {
    const { log, serverId, status } = this.#options;
    const { state, reason } = status();
    if (reason !== undefined) log.info({ server: serverId, state, reason }, `still ${state}: ${reason}`);
  }
}

function withoutNumbers(text: string): string {
  return text.replace(/\d+/g, "#");
}

function seconds(ms: number): string {
  return ms < 950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
