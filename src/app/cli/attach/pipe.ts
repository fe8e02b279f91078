/**
 * The pipe of `goblin stdio --attach`: the lines of a client on stdin and stdout, through a tunnel
 * into a gateway, unchanged.
 *
 * When the gateway goes, the pipe looks for the next one and repeats there what the client has said
 * about itself and asked to be told of. The client learns only that lists may have changed. A
 * request that may have been carried out is never sent twice: it gets an error.
 */
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { DRAINING, REFUSED } from "../../../front/attach/tunnel-words.ts";
import { LineSplitter } from "../../../lib/structures/lines.ts";
import { GoblinError } from "../../../mcp/protocol/errors.ts";
import { answerText, failure, type Id, notificationText } from "../../../mcp/protocol/json-rpc.ts";
import { type ClientLine, ClientState } from "./client-state.ts";
import { headOf, messagesIn } from "./messages.ts";
import type { Opener } from "./opener.ts";
import { NoTunnel, type Tunnel } from "./tunnel.ts";

export interface PipeOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly opener: Opener;
}

/** A gateway that its user restarts is back by then; until then, none is started in its place. */
const RETURN_MS = 10_000;
/** How long requests wait for a gateway. */
const WAIT_MS = 30_000;
const FIRST_DELAY_MS = 25;
const MAX_DELAY_MS = 1000;
/** While this much waits for a gateway, nothing more is read from the client. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const MAX_LINE = 0x1fff_ffff;
const HASH = 35;
const STOPPED = "The gateway stopped";

export class Pipe {
  readonly #options: PipeOptions;
  readonly #client = new ClientState();
  /** Lines for the next gateway. */
  #waiting: ClientLine[] = [];
  #waitingBytes = 0;
  #tunnel: Tunnel | undefined;
  /** Whether the gateway knows the client. */
  #isReady = false;
  /** The gateway takes no more requests. */
  #isDraining = false;
  /** The client's last line has been read. */
  #hasLeft = false;
  #isOver = false;
  #end: (error?: unknown) => void = () => {};

  constructor(options: PipeOptions) {
    this.#options = options;
  }

  /** Resolves when the client has gone. Rejects if there is no gateway for it. */
  async run(): Promise<void> {
    const { input, output } = this.#options;
    const ended = new Promise<void>((resolve, reject) => {
      this.#end = (error) => (error === undefined ? resolve() : reject(error));
    });
    const lines = splitLines((line) => this.#fromClient(line));
    input.on("data", (chunk: Buffer) => lines.push(chunk));
    input.once("end", () => this.#leave());
    input.once("error", () => this.#leave());
    output.on("error", () => this.#end());
    output.on("drain", () => this.#tunnel?.socket.resume());
    void this.#connect(true);
    try {
      await ended;
    } finally {
      this.#isOver = true;
      this.#tunnel?.socket.destroy();
    }
  }

  async #connect(isFirst: boolean): Promise<void> {
    const { opener } = this.#options;
    const lostAt = Date.now();
    const wasBackground = opener.isBackground;
    for (let delay = FIRST_DELAY_MS; !this.#isOver; delay = Math.min(2 * delay, MAX_DELAY_MS)) {
      const isLate = Date.now() - lostAt > RETURN_MS && this.#client.hasRequests;
      try {
        const tunnel = await opener.open(isFirst || wasBackground || isLate);
        if (this.#isOver) tunnel.socket.destroy();
        else this.#use(tunnel);
        return;
      } catch (error) {
        if (isFirst || !(error instanceof NoTunnel) || error.why === "refused") return this.#fail(error);
        const over = this.#client.requests().filter(({ since }) => since < Date.now() - WAIT_MS);
        for (const { id } of over) this.#failRequest(id, `The gateway has gone and is not back yet: ${error.message}`);
      }
      await pause(delay);
    }
  }

  /** There is no gateway for this client, and waiting does not help. */
  #fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    for (const { id } of this.#client.requests()) this.#failRequest(id, message);
    this.#end(error);
  }

  #use(tunnel: Tunnel): void {
    const { socket } = tunnel;
    this.#tunnel = tunnel;
    this.#isDraining = false;
    const lines = splitLines((line) => {
      if (this.#tunnel === tunnel) this.#fromGateway(line);
    });
    socket.on("data", (chunk: Buffer) => lines.push(chunk));
    socket.on("drain", () => this.#options.input.resume());
    socket.once("end", () => this.#lost(tunnel));
    socket.once("close", () => this.#lost(tunnel));
    const greeting = this.#client.greeting();
    if (greeting) this.#write(greeting);
    else this.#ready();
  }

  #ready(): void {
    this.#isReady = true;
    const lines = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const line of lines) this.#send(line);
    if (this.#hasLeft) this.#tunnel?.socket.end();
    else this.#options.input.resume();
  }

  #lost(tunnel: Tunnel): void {
    if (this.#tunnel !== tunnel) return;
    tunnel.socket.destroy();
    this.#tunnel = undefined;
    this.#isReady = false;
    if (this.#isOver || (this.#hasLeft && this.#waiting.length === 0)) return this.#end();
    const { again, unanswered, questions } = this.#client.lose();
    this.#waiting.unshift(...again);
    const why = `${STOPPED} before it answered. Whether the request was carried out is unknown`;
    for (const { id } of unanswered) this.#answer(id, why);
    for (const requestId of questions) {
      this.#tell(notificationText("notifications/cancelled", JSON.stringify({ requestId, reason: STOPPED })));
    }
    void this.#connect(false);
  }

  /** The client has gone. What it said last still goes out. */
  #leave(): void {
    this.#hasLeft = true;
    if (this.#waiting.length > 0) return;
    if (this.#isReady) this.#tunnel?.socket.end();
    else this.#end();
  }

  #fromClient(bytes: Buffer): void {
    const messages = messagesIn(bytes);
    const ids = messages.flatMap(({ kind, id }) => (kind === "request" ? [id!] : []));
    const line: ClientLine = { bytes, ids, isSent: false };
    const now = Date.now();
    if (messages.filter((message) => !this.#client.say(message, line, now)).length > 0) return;
    if (this.#isReady && !(this.#isDraining && ids.length > 0)) return this.#send(line);
    this.#waiting.push(line);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#options.input.pause();
  }

  #fromGateway(bytes: Buffer): void {
    if (bytes[0] === HASH) return this.#control(bytes.toString("utf8"));
    const message = headOf(bytes);
    const heard = this.#client.hear(message, bytes, this.#isDraining);
    if (heard === "line") this.#tell(bytes);
    else if (heard === "greeted") this.#greeted(bytes);
    else if (heard !== "nothing") for (const text of heard.texts) this.#tell(text);
  }

  #greeted(bytes: Buffer): void {
    const problem = this.#client.problem(messagesIn(bytes)[0]!);
    if (problem !== undefined) return this.#fail(new NoTunnel("refused", `The next gateway is another: ${problem}`));
    for (const line of this.#client.wishes()) this.#write(line);
    this.#ready();
    for (const text of this.#client.changes()) this.#tell(text);
  }

  #control(text: string): void {
    if (text === DRAINING) this.#isDraining = true;
    if (!text.startsWith(REFUSED)) return;
    const request = this.#client.get(JSON.parse(text.slice(REFUSED.length)) as Id);
    if (!request) return;
    if (request.line.ids.length > 1) return this.#failRequest(request.id, STOPPED);
    request.line.isSent = false;
    this.#waiting.push(request.line);
  }

  #failRequest(id: Id, message: string): void {
    const request = this.#client.take(id);
    this.#waiting = this.#waiting.filter((line) => line !== request?.line || line.ids.length > 1);
    this.#answer(id, message);
  }

  #answer(id: Id, message: string): void {
    this.#tell(answerText(id, failure(new GoblinError("BACKEND_UNAVAILABLE", message))));
  }

  #send(line: ClientLine): void {
    line.isSent = true;
    this.#write(line.bytes);
  }

  #write(bytes: Buffer): void {
    const socket = this.#tunnel?.socket;
    if (socket && !writeLine(socket, bytes)) this.#options.input.pause();
  }

  #tell(line: Buffer | string): void {
    if (!writeLine(this.#options.output, line)) this.#tunnel?.socket.pause();
  }
}

function splitLines(line: (line: Buffer) => void): LineSplitter {
  return new LineSplitter({ cap: MAX_LINE, line, overflow() {} });
}

/** Returns false if the stream has no room for more. */
function writeLine(stream: Writable, line: Buffer | string): boolean {
  if (typeof line === "string") return stream.write(`${line}\n`);
  stream.cork();
  stream.write(line);
  const hasRoom = stream.write("\n");
  stream.uncork();
  return hasRoom;
}
