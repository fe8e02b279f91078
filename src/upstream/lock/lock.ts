/**
 * The lock of a running gateway: compares what each server lists with what the lock file approves,
 * and decides what clients get of it.
 *
 * It works when lists arrive, in slices, never during a call. If it is off, it does nothing. With
 * "enforce", whatever was not approved is not served, also if the file cannot be read.
 */
import { EventEmitter } from "node:events";
import type { LiveConfig } from "../../config/live-config.ts";
import type { ServerConfig } from "../../config/schema/server.ts";
import { inSlices } from "../../lib/timing/slices.ts";
import type { PeerInfo } from "../../mcp/peers/peer.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import { type ServerLists, stringOf } from "../catalog/definitions.ts";
import { type CurrentServer, type Drift, driftOf, type Scan } from "./drift.ts";
import { DriftLog } from "./drift-log.ts";
import { bareResource, effectOf, type LockActions, listsWith, lockPresets } from "./effect.ts";
import type { LockedServer, ReadLock } from "./lock-file.ts";
import { NO_LOCK, readLockFile, readLockFileAtOnce, writeLockedServer } from "./lock-store.ts";
import { type Source, sourceOf } from "./source.ts";
import {
  isPlainVersion,
  type LockedEntry,
  readSelfDescription,
  resourceDigest,
  type SurfaceKind,
  selfDescription,
  surfaceKinds,
  surfaceOf,
} from "./surface.ts";
import { type Offer, offerOf } from "./upgrade.ts";

export interface LockOptions {
  readonly config: LiveConfig;
  readonly log: Logger;
  /** The path of the file. */
  readonly file: () => string;
  readonly scan: (approved: ReadLock["servers"], serverId: string) => Scan;
  /**
   * Returns the lists of a server that is ready, for a lock that was off. A function, because the
   * servers are built with the lock.
   */
  readonly listedBy: (serverId: string) => Listed | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface LockEvents {
  /** What is approved, or what is done about differences, is another now. */
  changed: [];
  /** A server's lists were compared, or are no longer. */
  compared: [];
  closed: [];
}

/** What a server lists now, and how it differs. */
export interface Comparison {
  readonly current: CurrentServer;
  readonly drifts: readonly Drift[];
}

/** What a server says at one moment. */
export interface Listed {
  readonly lists: ServerLists;
  readonly info: PeerInfo;
}

export class Lock extends EventEmitter<LockEvents> {
  readonly #options: LockOptions;
  #read: ReadLock;
  #path: string;
  #isClosed = false;
  /** The last work on the file. Each begins when the one before is done. */
  #work: Promise<unknown> = Promise.resolve();
  readonly #comparisons = new Map<string, Comparison>();
  /** The offers of new versions that run aside and wait for approval. */
  readonly #offers = new Map<string, Offer>();
  readonly #driftLog: DriftLog;
  readonly #described = new WeakMap<PeerInfo, { readonly key: string; readonly info: PeerInfo }>();
  readonly #selfDescriptions = new WeakMap<PeerInfo, string>();

  constructor(options: LockOptions) {
    super();
    this.setMaxListeners(0);
    this.#options = options;
    this.#driftLog = new DriftLog(options.log);
    this.#path = options.file();
    this.#read = this.isOn ? readLockFileAtOnce(this.#path) : NO_LOCK;
    this.#tellProblems();
    let settings = JSON.stringify(options.config.current.lock);
    options.config.on("changed", () => {
      this.#forgetRemoved();
      const next = JSON.stringify(options.config.current.lock);
      if (next === settings) return;
      settings = next;
      this.#path = options.file();
      void this.reload();
    });
  }

  get path(): string {
    return this.#path;
  }

  get isOn(): boolean {
    return this.#options.config.current.lock.mode !== "off";
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    this.emit("closed");
  }

  get file(): ReadLock {
    return this.#read;
  }

  /** How many servers are not as they were approved. */
  get differing(): number {
    const others = [...this.#comparisons].filter(([, { drifts }]) => drifts.length > 0);
    return new Set([...others.map(([id]) => id), ...this.#offers.keys()]).size;
  }

  /** Undefined: differences are only reported. */
  get actions(): LockActions | undefined {
    const { mode, strictness } = this.#options.config.current.lock;
    return mode === "enforce" ? lockPresets[strictness] : undefined;
  }

  /** Reads the file again. */
  reload(): Promise<void> {
    return this.#inTurn(async () => {
      this.#read = await readLockFile(this.#path);
      if (this.#isClosed) return;
      this.#tellProblems();
      this.#changed();
    });
  }

  /** Resolves when `file` is what the file says. A lock that is off does not follow it. */
  async upToDate(): Promise<void> {
    if (this.isOn) return void (await this.#work);
    await this.#inTurn(async () => {
      this.#read = await readLockFile(this.#path);
    });
  }

  /**
   * Returns the lists that clients get. `lists` are all that the server has. `isStandby`: clients
   * do not see this server yet.
   */
  async admit(server: ServerConfig, { lists, info }: Listed, isStandby = false): Promise<ServerLists> {
    if (!this.isOn) return lists;
    await this.#work;
    const comparison = await this.#compare(server, { lists, info });
    if (!isStandby) {
      this.#comparisons.set(server.id, comparison);
      const isKnown = this.#read.servers.has(server.id);
      this.#driftLog.report(server.id, { drifts: comparison.drifts, actions: this.actions, isKnown });
      this.emit("compared");
    }
    const approved = this.#read.servers.get(server.id);
    return inSlices(listsWith(lists, { approved, drifts: comparison.drifts, actions: this.actions }));
  }

  /**
   * The lists of a server that has not connected yet: those that were approved, with the resources
   * that it listed last. `kept`: what it listed last; what is gone from there is left out.
   */
  startingLists(serverId: string, kept: ServerLists | undefined): ServerLists | undefined {
    if (!this.isOn || (kept && !this.actions)) return kept;
    const approved = this.#read.servers.get(serverId);
    if (!approved) return kept && { tools: [], prompts: [], templates: [], resources: [] };
    const listOf = (kind: SurfaceKind) => {
      const key = kind === "templates" ? "uriTemplate" : "name";
      const last = kept && new Set(kept[kind].map((definition) => stringOf(definition, key)));
      return [...approved[kind]].filter(([name]) => !last || last.has(name)).map(([, { definition }]) => definition);
    };
    const known = new Set(approved.resources.digests);
    // They are compared as a whole when the server lists them again.
    const resources = (kept?.resources ?? []).map((resource) =>
      known.has(resourceDigest(resource)) ? resource : bareResource(resource),
    );
    return { tools: listOf("tools"), prompts: listOf("prompts"), templates: listOf("templates"), resources };
  }

  /** A server's description of itself, as clients may read it: with approved texts only. */
  describe(serverId: string, info: PeerInfo | undefined): PeerInfo | undefined {
    const { actions } = this;
    if (!actions || !info) return info;
    const said = this.#selfDescriptions.get(info) ?? selfDescription(info);
    this.#selfDescriptions.set(info, said);
    const instructions = this.#admitted("instructions", { serverId, current: info.instructions, actions });
    const self = this.#admitted("serverInfo", { serverId, current: said, actions });
    if (instructions === info.instructions && self === said) return info;
    const key = JSON.stringify([instructions, self]);
    const known = this.#described.get(info);
    if (known?.key === key) return known.info;
    const described = { ...(self === said ? info : describedAs(info, self)), instructions };
    this.#described.set(info, { key, info: described });
    return described;
  }

  /** What a server lists now, compared with the file. Undefined: it has not been listed. */
  async compare(server: ServerConfig): Promise<Comparison | undefined> {
    const known = this.isOn ? this.#comparisons.get(server.id) : undefined;
    const listed = known ? undefined : this.#options.listedBy(server.id);
    return known ?? (listed && (await this.#compare(server, listed)));
  }

  /** What a version of a server offers that runs aside. */
  async offer(server: ServerConfig, listed: Listed): Promise<Offer> {
    await this.#work;
    return offerOf(await this.#compare(server, listed));
  }

  /** Another version serves clients: the knowledge about the previous one is void. */
  replaced(serverId: string): void {
    this.#comparisons.delete(serverId);
  }

  /** A version runs aside, and waits with this offer. Undefined: none does. */
  offered(serverId: string, offer: Offer | undefined): void {
    if (offer) this.#offers.set(serverId, offer);
    else this.#offers.delete(serverId);
    this.emit("compared");
  }

  /**
   * Writes what a server lists now to the file, or what the version offers that runs aside.
   * `expect`: the digest of what the user has seen.
   */
  approve(server: ServerConfig, expect: string): Promise<Comparison> {
    return this.#inTurn(async () => {
      const offer = this.#offers.get(server.id);
      const comparison = offer?.digest === expect ? offer : await this.compare(server);
      if (!comparison) throw new Error(`server "${server.id}" has not been listed yet`);
      const { current } = comparison;
      if (comparison !== offer && current.digest !== expect) throw new ChangedSurface(server.id, current.digest);
      this.#read = await writeLockedServer(this.#path, server.id, steady(current, this.#read.servers.get(server.id)));
      this.#changed();
      return { current, drifts: [] };
    });
  }

  /** Removes a server that is no longer in the config from the file. */
  remove(serverId: string): Promise<void> {
    return this.#inTurn(async () => {
      this.#read = await writeLockedServer(this.#path, serverId, undefined);
      this.#changed();
    });
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => {});
    return done;
  }

  async #compare(server: ServerConfig, { lists, info }: Listed): Promise<Comparison> {
    const { env, scan } = this.#options;
    const approved = this.#read.servers.get(server.id);
    const source: Source = await sourceOf(server, info.serverInfo["version"], env);
    const surface = await inSlices(surfaceOf({ lists, instructions: info.instructions, info }, approved));
    const current = { ...surface, source };
    const sides = { approved, current, scan: scan(this.#read.servers, server.id) };
    return { current, drifts: await inSlices(driftOf(sides)) };
  }

  /** The text that clients get: the current one if it passes, or else the approved one. */
  #admitted(part: "instructions" | "serverInfo", { serverId, current, actions }: Said): string | undefined {
    const approved = this.#read.servers.get(serverId)?.[part]?.text;
    if (current === undefined || current === approved) return current;
    const drift = this.#comparisons.get(serverId)?.drifts.find(({ kind }) => kind === part);
    if (!drift || drift.after !== current) return approved;
    const effect = effectOf(drift, actions);
    return effect === "listed" ? current : effect === "pinned" ? approved : undefined;
  }

  #tellProblems(): void {
    this.#driftLog.problems(this.#path, this.#read.problems, this.actions);
  }

  /** What was known of servers that are no longer in use. */
  #forgetRemoved(): void {
    const used = new Set(this.#options.config.current.servers.filter(({ enabled }) => enabled).map(({ id }) => id));
    const gone = [...this.#comparisons.keys()].filter((id) => !used.has(id));
    for (const id of gone) this.#comparisons.delete(id);
    this.#driftLog.keepOnly(used);
    if (gone.length > 0) this.emit("compared");
  }

  #changed(): void {
    this.#comparisons.clear();
    this.emit("changed");
  }
}

interface Said {
  readonly serverId: string;
  readonly current: string | undefined;
  readonly actions: LockActions;
}

/** `self`: the description that was approved; undefined: none was. */
function describedAs({ serverInfo, capabilities, ...info }: PeerInfo, self: string | undefined): PeerInfo {
  const approved = self === undefined ? undefined : readSelfDescription(self);
  const { experimental: _, extensions: __, ...rest } = capabilities;
  const { version } = serverInfo;
  return {
    ...info,
    serverInfo: { ...(isPlainVersion(version) && version !== undefined && { version }), ...approved?.serverInfo },
    capabilities: {
      ...rest,
      ...(approved?.experimental !== undefined && { experimental: approved.experimental }),
      ...(approved?.extensions !== undefined && { extensions: approved.extensions }),
    },
  };
}

/** Somebody approves what is no longer there. */
class ChangedSurface extends Error {
  constructor(serverId: string, digest: string) {
    super(`what server "${serverId}" offers has another digest, ${digest}; look again with goblin lock diff`);
  }
}

/** Keeps the approved spelling of entries that are the same, so that the file changes no line. */
function steady(current: CurrentServer, approved: LockedServer | undefined): LockedServer {
  if (!approved) return current;
  const entries = (kind: SurfaceKind): ReadonlyMap<string, LockedEntry> =>
    new Map(
      [...current[kind]].map(([name, entry]) => {
        const known = approved[kind].get(name);
        return [name, known?.digest === entry.digest ? known : entry];
      }),
    );
  const [tools, prompts, templates] = surfaceKinds.map(entries) as [
    LockedServer["tools"],
    LockedServer["prompts"],
    LockedServer["templates"],
  ];
  return { ...current, tools, prompts, templates };
}
