/**
 * A byte stream to a server through an HTTP proxy (CONNECT). Writes wait until the proxy has
 * connected; a refusal destroys the stream with an error that names the proxy, without its
 * password.
 */
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { proxyAuthorization } from "./proxy.ts";

const MAX_HEAD = 16 * 1024;
const HEAD_END = "\r\n\r\n";

export class Tunnel extends Duplex {
  readonly #proxy: URL;
  readonly #socket: Socket;
  #head: Buffer | undefined = Buffer.alloc(0);
  #firstWrite: (() => void) | undefined;

  /** `target`: host and port of the server. */
  constructor(proxy: URL, target: string) {
    super();
    this.#proxy = proxy;
    this.#socket = openProxy(proxy);
    const socket = this.#socket;
    socket.once(proxy.protocol === "https:" ? "secureConnect" : "connect", () => {
      const authorization = proxyAuthorization(proxy);
      const login = authorization === undefined ? "" : `proxy-authorization: ${authorization}\r\n`;
      socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${login}\r\n`, "latin1");
    });
    socket.on("data", (chunk: Buffer) => this.#took(chunk));
    socket.on("end", () => {
      if (this.#head) this.destroy(refused(proxy, "closed the connection"));
      else this.push(null);
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      this.destroy(this.#head ? refused(proxy, `cannot be reached (${error.code})`) : error);
    });
    socket.on("close", () => this.destroy());
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#head) this.#firstWrite = () => void this.#socket.write(chunk, done);
    else this.#socket.write(chunk, done);
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #took(chunk: Buffer): void {
    if (this.#head) this.#tookHead(Buffer.concat([this.#head, chunk]));
    else if (!this.push(chunk)) this.#socket.pause();
  }

  #tookHead(head: Buffer): void {
    const end = head.indexOf(HEAD_END);
    if (end === -1 && head.length <= MAX_HEAD) {
      this.#head = head;
      return;
    }
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(head.toString("latin1", 0, 64))?.[1];
    if (end === -1 || status === undefined) return void this.destroy(refused(this.#proxy, "does not speak HTTP"));
    if (!status.startsWith("2")) return void this.destroy(refused(this.#proxy, `refused (HTTP ${status})`));
    this.#head = undefined;
    const rest = head.subarray(end + HEAD_END.length);
    if (rest.length > 0) this.push(rest);
    this.#firstWrite?.();
  }
}

/** Opens a connection to the proxy itself. */
export function openProxy({ protocol, hostname, port }: URL, options: object = {}): Socket {
  const isSecure = protocol === "https:";
  const host = hostname.replace(/^\[|\]$/g, "");
  const address = { ...options, host, port: Number(port) || (isSecure ? 443 : 80) };
  return isSecure ? connectSecurely({ ...address, servername: host }) : connect(address);
}

/** TLS takes memory, so it is loaded with the first connection that needs it. */
export function connectSecurely(options: ConnectionOptions): TLSSocket {
  return process.getBuiltinModule("node:tls").connect(options);
}

function refused({ host }: URL, what: string): Error {
  return Object.assign(new Error(`the proxy ${host} ${what}`), { code: "PROXY_REFUSED" });
}
