/**
 * Keeps what each server listed last on disk, so that the next start can show it at once.
 *
 * A file belongs to one server id and one way to reach it. It holds the lists, byte by byte, and
 * the server's description of itself; no part of the config, and so no secret of it.
 *
 * Invariants: a file is written as a whole or not at all. A file that is broken, old, too large or
 * writable by others counts as absent, and the log says so.
 */
import { createHash, type Hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ServerConfig } from "../../../config/schema/server.ts";
import { stateFolder } from "../../../config/state-folder.ts";
import { elementSpans, memberSpan } from "../../../lib/json/json-text.ts";
import { isRecord } from "../../../lib/structures/record.ts";
import { writeFileAtomic } from "../../../lib/structures/write-file-atomic.ts";
import type { PeerInfo } from "../../../mcp/peers/peer.ts";
import { messageOf } from "../../../mcp/protocol/errors.ts";
import type { ListKind } from "../../../mcp/protocol/methods.ts";
import type { Logger } from "../../../observe/telemetry/logger.ts";
import { type Definition, emptyLists, type ServerLists } from "../../catalog/definitions.ts";

export interface KeptServer {
  readonly lists: ServerLists;
  readonly info: PeerInfo;
}

const VERSION = 1;
/** A server that lists more starts without kept lists. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 500;
const DAY_MS = 24 * 3_600_000;
const MAX_AGE_MS = 30 * DAY_MS;
const KINDS = Object.keys(emptyLists) as ListKind[];

interface Written {
  readonly digest: string;
  readonly at: number;
}

/** Opens the folder of kept lists. Undefined, with a warning, if it cannot be used. */
export async function openKeptLists(
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<KeptLists | undefined> {
  const folder = join(stateFolder(env), "lists");
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await prune(folder);
    return new KeptLists(folder, log);
  } catch (error) {
    log.warn(`Lists will not survive a restart: the state folder cannot be used (${messageOf(error)})`);
    return undefined;
  }
}

export class KeptLists {
  readonly #folder: string;
  readonly #log: Logger;
  /** What is on disk, as far as this process knows, by file. */
  readonly #written = new Map<string, Written>();
  /** The text to write next, by file; undefined: the last one is being written. */
  readonly #next = new Map<string, string | undefined>();
  readonly #writes = new Set<Promise<void>>();

  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Returns what this server listed last. */
  read(config: ServerConfig): KeptServer | undefined {
    const file = this.#fileOf(config);
    try {
      const { size, mode, uid } = statSync(file);
      if (size > MAX_BYTES) throw new Error(`it has ${size} bytes, and may have ${MAX_BYTES}`);
      if (process.getuid && (uid !== process.getuid() || (mode & 0o022) !== 0)) {
        throw new Error("others can write it");
      }
      const text = readFileSync(file, "utf8");
      const { kept, at } = parse(text);
      if (Date.now() - at > MAX_AGE_MS) return undefined;
      this.#written.set(file, { digest: digestOf(bodyOf(config.id, kept)), at });
      return kept;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      const detail = { server: config.id, file, error: messageOf(error) };
      this.#log.warn(detail, "The kept lists of this server cannot be used; they are replaced when it is ready");
      return undefined;
    }
  }

  /** Writes what this server lists now, in the background, unless that is on disk already. */
  keep(config: ServerConfig, kept: KeptServer): void {
    const file = this.#fileOf(config);
    const body = bodyOf(config.id, kept);
    const [digest, at] = [digestOf(body), Date.now()];
    const known = this.#written.get(file);
    if (known?.digest === digest && at - known.at < DAY_MS) return;
    this.#written.set(file, { digest, at });
    const text = `{"version":${VERSION},"at":"${new Date(at).toISOString()}",${body}}`;
    const isWriting = this.#next.has(file);
    this.#next.set(file, text);
    if (isWriting) return;
    const writing = this.#write(file, config.id).finally(() => this.#writes.delete(writing));
    this.#writes.add(writing);
  }

  /** Resolves when everything is written. */
  async close(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async #write(file: string, server: string): Promise<void> {
    for (let text = this.#next.get(file); text !== undefined; text = this.#next.get(file)) {
      this.#next.set(file, undefined);
      try {
        if (Buffer.byteLength(text) > MAX_BYTES) await rm(file, { force: true });
        else await writeFileAtomic(file, text, { isDurable: false });
      } catch (error) {
        this.#log.warn(
          { server, error: messageOf(error) },
          "The lists of this server cannot be kept for the next start",
        );
      }
    }
    this.#next.delete(file);
  }

  #fileOf({ id, transport }: ServerConfig): string {
    // Values of variables and headers are often secret, and change without a change of the lists.
    const reach =
      transport.kind === "stdio"
        ? [transport.command, transport.args, transport.cwd, Object.keys(transport.env).sort()]
        : [transport.url, Object.keys(transport.headers).sort()];
    const digest = digestOf(JSON.stringify([id, transport.kind, reach]));
    return join(this.#folder, `${id.replace(/[^A-Za-z0-9.-]+/g, "-").slice(0, 40)}-${digest.slice(0, 32)}.json`);
  }
}

function bodyOf(server: string, { lists, info }: KeptServer): string {
  const texts = KINDS.map((kind) => `"${kind}":[${lists[kind].map(({ text }) => text).join(",")}]`);
  return `"server":${JSON.stringify(server)},"info":${JSON.stringify(info)},"lists":{${texts.join(",")}}`;
}

function digestOf(text: string): string {
  const hash: Hash = createHash("sha256");
  return hash.update(text).digest("hex");
}

function parse(text: string): { readonly kept: KeptServer; readonly at: number } {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || value["version"] !== VERSION) throw new Error("it has another format");
  const at = Date.parse(String(value["at"]));
  const { info, lists } = value;
  if (Number.isNaN(at) || !isInfo(info) || !isRecord(lists)) throw new Error("it is incomplete");
  const { start } = memberSpan(text, 0, "lists")!;
  const read: Record<ListKind, readonly Definition[]> = { ...emptyLists };
  for (const kind of KINDS) {
    const values = lists[kind];
    if (!Array.isArray(values) || !values.every(isRecord)) throw new Error(`it has no list "${kind}"`);
    const spans = elementSpans(text, memberSpan(text, start, kind)!.start);
    read[kind] = spans.map((span, i) => ({ text: text.slice(span.start, span.end), value: values[i]! }));
  }
  return { kept: { lists: read, info }, at };
}

function isInfo(info: unknown): info is PeerInfo {
  return (
    isRecord(info) &&
    typeof info["protocolVersion"] === "string" &&
    isRecord(info["capabilities"]) &&
    isRecord(info["serverInfo"]) &&
    ["string", "undefined"].includes(typeof info["instructions"])
  );
}

/** Removes files that no server has used for long, and the oldest of too many. */
async function prune(folder: string): Promise<void> {
  const files: { readonly path: string; readonly at: number }[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) files.push({ path, at: found.mtimeMs });
  }
  files.sort((a, b) => b.at - a.at);
  const oldest = Date.now() - MAX_AGE_MS;
  const useless = files.filter(({ at }, i) => i >= MAX_FILES || at < oldest);
  await Promise.all(useless.map(({ path }) => rm(path, { force: true })));
}
