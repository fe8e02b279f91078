/**
 * The primary process: starts the workers, replaces those that end, and ends them all. It accepts
 * the connections and passes each to the next worker; what is in them only workers read.
 *
 * The first worker starts alone: what keeps a gateway from starting is said once. In turns, not by
 * the system's choice: connections last long here, and the system gives most of them to the worker
 * that woke up last. Invariant: no worker outlives this process. Node ends a worker whose channel
 * closes, and the watchdog those that cannot notice.
 */
import cluster, { type Worker as Child } from "node:cluster";
import { rmSync } from "node:fs";
import { endWorkerWithProcess, workerHasEnded } from "../../mcp/links/process-groups.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import type { FromWorker, Listening, Member, ToWorker } from "./messages.ts";
import { makeSocketFolder, socketAddress } from "./socket-folder.ts";

export interface PrimaryOptions {
  readonly count: number;
  readonly secret: string;
  /** What starts a worker; its number is added. */
  readonly args: readonly string[];
  readonly log: Pick<Logger, "info" | "warn" | "error">;
}

interface Place {
  readonly number: number;
  child: Child | undefined;
  member: Member | undefined;
  startedAt: number;
  /** How often in a row its worker ended before it served. */
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

/** A worker is not started more often. */
const FLOOR_MS = 1000;
const CEILING_MS = 30_000;

export class Primary {
  readonly #options: PrimaryOptions;
  readonly #folder = makeSocketFolder();
  readonly #places: readonly Place[];
  #isEnding = false;
  #ended: (() => void) | undefined;
  #first: ((outcome: Listening | number) => void) | undefined;

  constructor(options: PrimaryOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.count }, (_, i) => emptyPlace(i + 1));
    if (process.platform !== "win32") cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.on("message", (child, message: FromWorker) => this.#take(child, message));
    cluster.on("exit", (child, code, signal) => this.#exited(child, code, signal));
    process.once("exit", () => rmSync(this.#folder, { recursive: true, force: true }));
  }

  /** Starts all workers once the first one listens. Resolves with that, or with its exit code. */
  async start(): Promise<Listening | number> {
    const first = new Promise<Listening | number>((resolve) => {
      this.#first = resolve;
    });
    const [one, ...others] = this.#places;
    this.#fork(one!);
    const outcome = await first;
    this.#first = undefined;
    if (typeof outcome !== "number") for (const place of others) if (!this.#isEnding) this.#fork(place);
    return outcome;
  }

  /** Tells all workers that log files were rotated and the config is to be read again. */
  hangup(): void {
    for (const { child } of this.#places) send(child, { kind: "hangup" });
  }

  /** Ends all workers, and kills those that have not ended by then. */
  async end(patienceMs: number): Promise<void> {
    this.#isEnding = true;
    const ended = new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
    for (const { child, timer } of this.#places) {
      clearTimeout(timer);
      send(child, { kind: "end" });
    }
    const killing = setTimeout(() => {
      for (const { child } of this.#places) child?.process.kill("SIGKILL");
    }, patienceMs);
    this.#checkEnd();
    await ended;
    clearTimeout(killing);
  }

  #fork(place: Place): void {
    const { args } = this.#options;
    cluster.setupPrimary({ exec: process.argv[1]!, args: [...args, "--worker", String(place.number)] });
    const child = cluster.fork();
    place.child = child;
    place.startedAt = Date.now();
    const { pid } = child.process;
    if (pid !== undefined) endWorkerWithProcess(pid);
  }

  #take(child: Child, message: FromWorker): void {
    const place = this.#places.find((one) => one.child === child);
    if (!place) return;
    if (message.kind === "listening") return this.#listens(place, child, message);
    const { secret, count } = this.#options;
    send(child, { kind: "setup", number: place.number, count, secret, folder: this.#folder });
    // It may have missed that the gateway ends.
    if (this.#isEnding) send(child, { kind: "end" });
  }

  #listens(place: Place, child: Child, message: Listening): void {
    const { pid = 0 } = child.process;
    const { number } = place;
    place.failures = 0;
    place.member = { ...message.owner, number, pid, since: Date.now() };
    this.#options.log.info({ worker: number, pid }, "A worker serves");
    this.#tellMembers();
    this.#first?.(message);
  }

  #exited(child: Child, code: number | null, signal: string | null): void {
    const { pid } = child.process;
    if (pid !== undefined) workerHasEnded(pid);
    const place = this.#places.find((one) => one.child === child);
    if (!place) return;
    const { number, member } = place;
    place.child = undefined;
    place.member = undefined;
    if (pid !== undefined && process.platform !== "win32") {
      rmSync(socketAddress({ folder: this.#folder, number, pid }).slice("unix:".length), { force: true });
    }
    if (this.#isEnding) return this.#checkEnd();
    if (this.#first) return this.#first(code ?? 1);
    if (!member) place.failures++;
    this.#options.log.warn({ worker: number, pid, code, signal }, "A worker ended; another one takes its place");
    this.#tellMembers();
    const waitMs = Math.min(FLOOR_MS * 2 ** place.failures, CEILING_MS);
    place.timer = setTimeout(() => this.#fork(place), Math.max(0, place.startedAt + waitMs - Date.now()));
  }

  #tellMembers(): void {
    const members = this.#places.flatMap(({ member }) => member ?? []);
    for (const { child } of this.#places) send(child, { kind: "members", members });
  }

  #checkEnd(): void {
    if (this.#places.every(({ child }) => child === undefined)) this.#ended?.();
  }
}

function emptyPlace(number: number): Place {
  return { number, child: undefined, member: undefined, startedAt: 0, failures: 0, timer: undefined };
}

/** A worker that has just ended hears nothing. */
function send(child: Child | undefined, message: ToWorker): void {
  if (child?.isConnected()) child.send(message, () => {});
}
