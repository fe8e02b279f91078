/**
 * This process as one of several workers of one gateway: its number, and who the others are.
 *
 * Everything comes from the primary process. When that one ends, however it ends, Node ends the
 * worker.
 */
import { EventEmitter } from "node:events";
import type { Owner } from "../../cluster/owners.ts";
import type { FromWorker, Listening, Member, Setup, ToWorker } from "./messages.ts";
import { wholeOf } from "./share-of-config.ts";

/** The worker that serves everything but MCP itself. */
const FIRST = 1;

export interface WorkerEvents {
  /** Log files were rotated, and the config is to be read again. */
  hangup: [];
  /** The gateway ends. */
  end: [];
  members: [];
}

export class Worker extends EventEmitter<WorkerEvents> {
  readonly number: number;
  /** How many workers there are. */
  readonly count: number;
  readonly secret: string;
  readonly folder: string;
  readonly wholeOf = wholeOf;
  #members: readonly Member[] = [];
  #isEnding = false;

  private constructor({ number, count, secret, folder }: Setup) {
    super();
    this.number = number;
    this.count = count;
    this.secret = secret;
    this.folder = folder;
  }

  /** Resolves when the primary process has said who this one is. */
  static join(): Promise<Worker> {
    return new Promise((resolve) => {
      let worker: Worker | undefined;
      process.on("message", (message: ToWorker) => {
        if (message.kind === "setup") {
          worker = new Worker(message);
          resolve(worker);
        } else if (worker) worker.#take(message);
      });
      tell({ kind: "hello" });
    });
  }

  /** Whether this one serves the API, the pages and the metrics. The others hand those over. */
  get isFirst(): boolean {
    return this.number === FIRST;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  get members(): readonly Member[] {
    return this.#members;
  }

  /** Resolves with the worker of this number when it serves; rejects after this time. */
  present(number: number, ms: number): Promise<Owner> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.#members.find((member) => member.number === number);
        if (!found && !this.#isEnding) return;
        this.off("members", look).off("end", look);
        clearTimeout(timer);
        if (found) resolve({ id: found.id, address: found.address });
        else reject(new Error("the gateway ends"));
      };
      const timer = setTimeout(() => {
        this.off("members", look).off("end", look);
        reject(new Error(`worker ${number} did not start in time`));
      }, ms);
      this.on("members", look).on("end", look);
      look();
    });
  }

  /** Resolves with the first worker. */
  first(ms: number): Promise<Owner> {
    return this.present(FIRST, ms);
  }

  /** Tells the primary process that this one serves. */
  serves(listening: Omit<Listening, "kind">): void {
    tell({ kind: "listening", ...listening });
  }

  #take(message: Exclude<ToWorker, Setup>): void {
    if (message.kind === "members") this.#members = message.members;
    if (message.kind === "end") this.#isEnding = true;
    this.emit(message.kind);
  }
}

function tell(message: FromWorker): void {
  process.send?.(message);
}
