/**
 * A Link to a server that Goblin runs as a child process. Each line on stdin and stdout is one JSON
 * message; stderr goes to the log.
 *
 * Writes are batched for one turn of the event loop. When the pipe is full they queue up to
 * `limits.unsentBytes`; further requests fail. The child leads its own process group, and closing
 * the link ends the whole group: close stdin, then SIGTERM, then SIGKILL. The child gets only the
 * variables that programs need to run, and those of its config entry. It never gets Goblin's other
 * variables.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { GoblinError } from "../protocol/errors.ts";
import { idAtEdges, LineSplitter } from "../structures/lines.ts";
import { withTimeout } from "../timing/with-timeout.ts";
import type { Link, LinkEvents, OpenLink, SendOptions } from "./link.ts";
import { Outgoing } from "./outgoing.ts";
import { endWithProcess, hasEnded, hasMembers, killGroup } from "./process-groups.ts";
import { type MessageLimit, tooLarge } from "./too-large.ts";

export interface StdioOptions extends MessageLimit {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly stderr: (line: string) => void;
  /** The maximum number of bytes that may wait for the program to read them. */
  readonly unsentCap: number;
}

const STDERR_CAP = 8 * 1024;
const CLOSE_STDIN_MS = 1500;
const TERM_MS = 1500;

const INHERITED = [
  "HOME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "LOGNAME",
  "PATH",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "USER",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_RUNTIME_DIR",
  "XDG_STATE_HOME",
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
];

function childEnvironment(own: Readonly<Record<string, string>>): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = process.env[name];
    // This prefix marks an exported shell function. Servers do not need it, and some shells would
    // run it.
    if (value !== undefined && !value.startsWith("()")) env[name] = value;
  }
  return { ...env, ...own };
}

export function stdioLink(options: StdioOptions): OpenLink {
  return (events) =>
    new Promise((resolve, reject) => {
      const child = spawn(options.command, [...options.args], {
        cwd: options.cwd,
        env: childEnvironment(options.env),
        stdio: ["pipe", "pipe", "pipe"],
        detached: process.platform !== "win32",
        windowsHide: true,
      });
      child.once("error", (error: NodeJS.ErrnoException) => {
        const why = error.code === "ENOENT" ? "command not found (or its cwd does not exist)" : error.message;
        reject(new GoblinError("BACKEND_UNAVAILABLE", `Cannot start "${options.command}": ${why}`, { cause: error }));
      });
      child.once("spawn", () => resolve(new StdioLink(child, options, events)));
    });
}

class StdioLink implements Link {
  readonly #child: ChildProcess;
  #events: LinkEvents;
  readonly #exited: Promise<void>;
  readonly #options: StdioOptions;
  readonly #outgoing = new Outgoing();
  #scheduled = false;
  #blocked = false;
  #closing = false;
  #closed = false;

  constructor(child: ChildProcess, options: StdioOptions, events: LinkEvents) {
    this.#child = child;
    this.#events = events;
    this.#options = options;
    endWithProcess(child.pid!);
    const stdout = new LineSplitter({
      cap: options.messageCap,
      line: (line) => {
        if (line.length > 0 && !this.#closed) this.#events.message(line, undefined);
      },
      overflow: (head, tail) => tooLarge(this.#events, options, { id: idAtEdges(head, tail), head }),
    });
    const stderr = new LineSplitter({
      cap: STDERR_CAP,
      line: (line) => options.stderr(line.toString("utf8")),
      overflow: (head) => options.stderr(`${head}…`),
    });
    child.stdout!.on("data", (chunk: Buffer) => stdout.push(chunk));
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
        this.#end(signal ? `it was ended by ${signal}` : `it exited with code ${code}`);
        resolve();
      });
    });
  }

  send(text: string, { id, accepted }: SendOptions = {}): void {
    if (this.#closed || this.#closing) return;
    if (this.#blocked && this.#unsent + text.length > this.#options.unsentCap) this.#refuse(id);
    else this.#outgoing.add(text, id);
    accepted?.();
    if (this.#scheduled || this.#blocked) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  drop(): void {}

  takeBack(id: number): boolean {
    return this.#outgoing.takeBack(id);
  }

  established(): void {}

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

  #exitsWithin(ms: number): Promise<boolean> {
    const exited = this.#exited.then(() => true);
    return withTimeout(exited, ms, false);
  }

  #flush(): void {
    if (this.#outgoing.size === 0 || this.#blocked || this.#closed) return;
    this.#blocked = !this.#child.stdin!.write(this.#outgoing.takeAll());
  }

  get #unsent(): number {
    return this.#outgoing.size + this.#child.stdin!.writableLength;
  }

  #refuse(id: number | undefined): void {
    const { unsentCap, onLimit } = this.#options;
    onLimit("unsentBytes");
    const message = `The server does not read what it is sent: ${this.#unsent} bytes wait for it (limits.unsentBytes is ${unsentCap})`;
    if (id === undefined) this.#events.problem(message);
    else this.#events.failed(id, new GoblinError("BACKEND_UNAVAILABLE", message), "unsent");
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#outgoing.clear();
    this.#events.closed(new GoblinError("BACKEND_UNAVAILABLE", `The server's process is gone: ${reason}`));
    this.#killGroup("SIGKILL");
  }

  /** Signals the child's group, including processes that the child left behind. */
  #killGroup(signal: NodeJS.Signals): void {
    killGroup(this.#child.pid!, signal);
    if (this.#closed) hasEnded(this.#child.pid!);
  }
}
