/**
 * A Link to a server that Goblin runs as a child process. Each line on stdin and stdout is one JSON
 * message; stderr goes to the log.
 *
 * Writes are batched for one turn of the event loop. When the pipe is full they queue up to
 * `unsentBytes`; further requests fail. The child leads its own process group, and closing
 * the link ends the whole group: close stdin, then SIGTERM, then SIGKILL. What the child last said
 * on stderr is part of the reason when it is gone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { skipBlank } from "../../lib/json/json-scan.ts";
import { idAtEdges, LineSplitter } from "../../lib/structures/lines.ts";
import { afterAnswers, type TurnEndTask } from "../../lib/timing/turn-end.ts";
import { withTimeout } from "../../lib/timing/with-timeout.ts";
import { GoblinError } from "../protocol/errors.ts";
import { limitExceeded } from "../protocol/limit-exceeded.ts";
import { logText } from "../protocol/log-text.ts";
import type { Link, LinkEvents, OpenLink, SendOptions } from "./link.ts";
import { Outgoing } from "./outgoing.ts";
import { endWithProcess, hasEnded, hasMembers, killGroup } from "./process-groups.ts";
import { cannotStart } from "./programs/cannot-start.ts";
import { childEnvironment } from "./programs/child-environment.ts";
import { LastWords } from "./programs/last-words.ts";
import { windowsCommand } from "./programs/windows-command.ts";
import type { LinkTap, MakeTap } from "./tap.ts";
import { type MessageLimit, tooLarge } from "./too-large.ts";

export interface StdioOptions extends MessageLimit {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly inheritEnv?: boolean | readonly string[] | undefined;
  readonly cwd: string | undefined;
  readonly stderr: (line: string) => void;
  /** Hides the server's secrets in a text that it wrote. */
  readonly redact: (text: string) => string;
  /** Called with the state of a start that has not succeeded yet. */
  readonly onHint?: ((hint: string) => void) | undefined;
  /** The maximum number of bytes that may wait for the program to read them. */
  readonly unsentCap: number;
  readonly tap?: MakeTap | undefined;
}

const OPENING_BRACE = 123;
const STDERR_CAP = 8 * 1024;
/** The most bytes that Node reads at once. */
const FULL_CHUNK = 64 * 1024;
const CLOSE_STDIN_MS = 1500;
const TERM_MS = 1500;

/** How much of what a program printed in place of a message is quoted. */
const STRAY_CHARS = 80;

export function stdioLink(options: StdioOptions): OpenLink {
  return (events) =>
    new Promise((resolve, reject) => {
      const { cwd } = options;
      const env = childEnvironment({ from: process.env, own: options.env, inherit: options.inheritEnv });
      const { file, args, verbatim } =
        process.platform === "win32"
          ? windowsCommand({ ...options, env })
          : { file: options.command, args: options.args, verbatim: false };
      const child = spawn(file, [...args], {
        cwd,
        env,
        stdio: ["pipe", "pipe", "pipe"],
        detached: process.platform !== "win32",
        windowsHide: true,
        windowsVerbatimArguments: verbatim,
      });
      child.once("error", (error: NodeJS.ErrnoException) => {
        const message = cannotStart({ ...options, env, error });
        reject(new GoblinError("BACKEND_UNAVAILABLE", message, { cause: error }));
      });
      child.once("spawn", () => resolve(new StdioLink(child, options, events)));
    });
}

class StdioLink implements Link, TurnEndTask {
  readonly #child: ChildProcess;
  #events: LinkEvents;
  readonly #exited: Promise<void>;
  readonly #options: StdioOptions;
  readonly #outgoing = new Outgoing();
  readonly #lastWords: LastWords;
  readonly #tap: LinkTap | undefined;
  #established = false;
  /** What the program printed on stdout in place of a message. */
  #stray: string | undefined;
  #scheduled = false;
  #blocked = false;
  #closing = false;
  #closed = false;

  constructor(child: ChildProcess, options: StdioOptions, events: LinkEvents) {
    this.#child = child;
    this.#events = events;
    this.#options = options;
    this.#lastWords = new LastWords(options.redact);
    this.#tap = options.tap?.();
    endWithProcess(child.pid!);
    const stdout = new LineSplitter({
      cap: options.messageCap,
      line: (line) => {
        if (line.length === 0 || this.#closed) return;
        if (!this.#established) this.#lookAt(line);
        if (this.#tap?.isOn) this.#tap.received(line, undefined);
        this.#events.message(line, undefined);
      },
      overflow: (head, tail) => tooLarge(this.#events, options, { id: idAtEdges(head, tail), head }),
    });
    const stderr = new LineSplitter({
      cap: STDERR_CAP,
      line: (line) => this.#said(line.toString("utf8")),
      overflow: (head) => this.#said(`${head}…`),
    });
    child.stdout!.on("data", (chunk: Buffer) => {
      stdout.push(chunk);
      // A program that writes without a pause must not hold up other events.
      if (chunk.length < FULL_CHUNK) return;
      child.stdout!.pause();
      setImmediate(() => child.stdout!.resume());
    });
    child.stderr!.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.stdin!.on("drain", () => {
      this.#blocked = false;
      this.#flush();
    });
    // A broken pipe is handled as the child's exit. Without a listener, the error would end the
    // gateway.
    child.stdin!.on("error", () => {});
    child.on("error", () => {});
    // A launcher may exit before the server that it started. Once the group is empty, its id may be
    // recycled.
    child.once("exit", () => {
      if (!hasMembers(child.pid!)) hasEnded(child.pid!);
    });
    this.#exited = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        stderr.end();
        if (!this.#established) stdout.end();
        this.#end(signal ? `was ended by ${signal}` : `exited with code ${code}`);
        resolve();
      });
    });
  }

  send(text: string, { id, accepted, call }: SendOptions = {}): void {
    if (this.#tap?.isOn) this.#tap.sent(text, call);
    if (this.#closed || this.#closing) return;
    if (this.#blocked && this.#unsent + text.length > this.#options.unsentCap) this.#refuse(id);
    else this.#outgoing.add(text, id);
    accepted?.();
    if (this.#scheduled || this.#blocked) return;
    this.#scheduled = true;
    afterAnswers(this);
  }

  atTurnEnd(): void {
    this.#scheduled = false;
    this.#flush();
  }

  drop(): void {}

  takeBack(id: number): boolean {
    return this.#outgoing.takeBack(id);
  }

  established(): void {
    this.#established = true;
  }

  get hint(): string | undefined {
    if (this.#stray === undefined) return this.#lastWords.reason;
    return `it printed ${JSON.stringify(this.#stray)}, which is not MCP`;
  }

  redirect(events: LinkEvents): boolean {
    this.#events = events;
    return !this.#closed;
  }

  async close(): Promise<void> {
    if (!this.#closing) {
      this.#closing = true;
      this.#flush();
      this.#child.stdin!.end();
    }
    if (await this.#exitsWithin(CLOSE_STDIN_MS)) return this.#killGroup("SIGKILL");
    this.#killGroup("SIGTERM");
    if (await this.#exitsWithin(TERM_MS)) return this.#killGroup("SIGKILL");
    this.#killGroup("SIGKILL");
    // A grandchild that left the group may keep the pipes open, so close our ends.
    this.#child.stdout!.destroy();
    this.#child.stderr!.destroy();
    await this.#exitsWithin(TERM_MS);
  }

  #said(line: string): void {
    this.#lastWords.add(line);
    this.#options.stderr(line);
  }

  /** Remembers the first line that is no message, for the reason why there is no handshake. */
  #lookAt(line: Buffer): void {
    if (this.#stray !== undefined || line[skipBlank(line, 0, line.length)] === OPENING_BRACE) return;
    const text = line.toString("utf8", 0, 4 * STRAY_CHARS);
    this.#stray = logText(this.#options.redact(text).slice(0, STRAY_CHARS));
    this.#options.onHint?.(this.hint!);
  }

  #exitsWithin(ms: number): Promise<boolean> {
    const exited = this.#exited.then(() => true);
    return withTimeout(exited, ms, false);
  }

  #flush(): void {
    if (this.#outgoing.size === 0 || this.#blocked || this.#closed) return;
    const text = this.#outgoing.takeAll();
    // Node encodes a text as Latin-1 in half the time. For ASCII, the bytes are the same.
    const encoding = Buffer.byteLength(text) === text.length ? "latin1" : "utf8";
    this.#blocked = !this.#child.stdin!.write(text, encoding);
  }

  get #unsent(): number {
    return this.#outgoing.size + this.#child.stdin!.writableLength;
  }

  #refuse(id: number | undefined): void {
    const { unsentCap, onLimit } = this.#options;
    onLimit("unsentBytes");
    const what = `the server does not read what it is sent, ${this.#unsent} bytes wait for it`;
    // Not the server's failure: one client's large calls must not close it to others.
    const error = limitExceeded({ limit: "unsentBytes", value: unsentCap, what, advice: "wait for an answer" });
    if (id === undefined) this.#events.problem(error.message);
    else this.#events.failed(id, error, "unsent");
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#outgoing.clear();
    const why = this.#lastWords.reason ?? (this.#established ? undefined : this.hint);
    const message = `The server ${reason}${why === undefined ? "" : `: ${why}`}`;
    this.#events.closed(new GoblinError("BACKEND_UNAVAILABLE", message));
    this.#killGroup("SIGKILL");
  }

  /** Signals the child's group, including processes that the child left behind. */
  #killGroup(signal: NodeJS.Signals): void {
    killGroup(this.#child.pid!, signal);
    if (this.#closed) hasEnded(this.#child.pid!);
  }
}
