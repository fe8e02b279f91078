/**
 * Keeps the lists of one server in step with its connection. Fetches them after a connect, and
 * again when the server announces a change or they may be out of date. While a list fails, it is
 * fetched again with backoff.
 *
 * Invariant: only the newest connection's lists count. Nothing is fetched after `close`.
 */

import type { LiveConfig } from "../../config/live-config.ts";
import { backoffMs } from "../../lib/timing/backoff.ts";
import { withTimeout } from "../../lib/timing/with-timeout.ts";
import type { Peer, PeerInfo } from "../../mcp/peers/peer.ts";
import { GoblinError, messageOf } from "../../mcp/protocol/errors.ts";
import { failure } from "../../mcp/protocol/json-rpc.ts";
import type { OnLimit } from "../../mcp/protocol/limit-exceeded.ts";
import { logText, MAX_PROBLEM_LENGTH } from "../../mcp/protocol/log-text.ts";
import type { ChangeKind } from "../../mcp/protocol/methods.ts";
import { hasValidMirrors } from "../../mcp/protocol/mirrors.ts";
import type { Logger } from "../../observe/telemetry/logger.ts";
import { emptyLists, hintsOf, type ServerLists, setHints } from "../catalog/definitions.ts";
import { Sync } from "../catalog/sync/sync.ts";
import { Refresh } from "./lists/refresh.ts";

export interface ListFetcherOptions {
  readonly serverId: string;
  readonly config: Pick<LiveConfig, "current">;
  readonly log: Logger;
  readonly onLimit: OnLimit;
  readonly update: (lists: ServerLists) => void;
  /** Turns what the server has into what clients get. */
  readonly admit?: ((listed: Listed) => Promise<ServerLists>) | undefined;
  /** The server announced a change of these lists, and they are the same as before. */
  readonly announced: (kinds: readonly ChangeKind[]) => void;
  readonly synced: (ms: number) => void;
  /** What is wrong with the lists is another now; see `problem`. */
  readonly problemChanged: () => void;
  /** All lists were fetched at last, after some had failed. */
  readonly recovered: () => void;
}

/** What a server has, and how it describes itself. */
export interface Listed {
  readonly lists: ServerLists;
  readonly info: PeerInfo;
}

export class ListFetcher {
  readonly #options: ListFetcherOptions;
  #sync: Sync | undefined;
  #peer: Peer | undefined;
  #timer: NodeJS.Timeout | undefined;
  #refresh: { readonly by: Refresh; readonly peer: Peer; readonly refreshMs: number } | undefined;
  /** Why a list could not be fetched. */
  #failure: string | undefined;
  /** Tools that were left out and logged. */
  readonly #uncallable = new Set<string>();
  /** Why parts of fetched lists were left out, by method. */
  readonly #reductions = new Map<string, string>();

  constructor(options: ListFetcherOptions) {
    this.#options = options;
  }

  /** What is wrong with the lists; undefined: nothing. */
  get problem(): string | undefined {
    const [first] = this.#reductions;
    return this.#failure ?? (first && `${first[0]}: ${first[1]}`);
  }

  /** Whether a list could not be fetched. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /**
   * Fetches all lists over a new connection. Returns whether that is still the newest connection.
   */
  async connect(peer: Peer, known: ServerLists = emptyLists): Promise<boolean> {
    this.#sync?.close();
    const sync = this.#syncOver(peer, known);
    this.#reductions.clear();
    this.#uncallable.clear();
    this.#sync = sync;
    this.#peer = undefined;
    this.#failure = undefined;
    await sync.all();
    if (this.#failure) this.#retry(sync, 0);
    if (this.#sync !== sync) return false;
    this.#peer = peer;
    this.#watch(peer);
    return true;
  }

  /** All that the connected server has. */
  get listed(): Listed | undefined {
    return this.#sync && this.#peer && { lists: this.#sync.lists, info: this.#peer.info };
  }

  /** Other things are admitted now than before. */
  async readmit(): Promise<void> {
    await this.#sync?.readmit();
  }

  /** A client read a list. */
  read(lists: ServerLists): void {
    this.#refresh?.by.read(lists);
  }

  /** The server does not know a tool that its list names. */
  contradicted(): void {
    this.#refresh?.by.contradicted();
  }

  #watch(peer: Peer): void {
    this.#refresh?.by.close();
    const { refreshMs } = this.#options.config.current.lists;
    const by = new Refresh({ peer, refreshMs, fetch: () => this.refetch() });
    this.#refresh = { by, peer, refreshMs };
  }

  changed(kind: ChangeKind): void {
    void this.#sync?.changed(kind);
  }

  refetch(): void {
    void this.#sync?.all();
  }

  /** Fetches again what was left out, because new limits may allow more entries. */
  configChanged(): void {
    if (this.#reductions.size > 0) this.refetch();
    const refresh = this.#refresh;
    if (refresh && refresh.refreshMs !== this.#options.config.current.lists.refreshMs) this.#watch(refresh.peer);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#refresh?.by.close();
    this.#refresh = undefined;
    this.#sync?.close();
    this.#sync = undefined;
  }

  #syncOver(peer: Peer, known: ServerLists): Sync {
    const { serverId, config, log, onLimit, admit, announced, synced } = this.#options;
    const update = (lists: ServerLists): void =>
      this.#options.update(peer.mirrorsArguments ? this.#callable(lists) : lists);
    return new Sync({
      known,
      declares: (capability) => capability in peer.info.capabilities,
      request: (method, params) => {
        const { connectMs } = config.current.timeouts;
        const late = failure(new GoblinError("TIMEOUT", `no answer within ${connectMs} ms`));
        return withTimeout(peer.request(method, params), connectMs, late);
      },
      update,
      admit: admit && ((lists) => admit({ lists, info: peer.info })),
      announced,
      synced: (ms) => {
        this.#refresh?.by.fetched();
        synced(ms);
      },
      failed: (method, error) => {
        const detail = { server: serverId, method, error: logText(messageOf(error), MAX_PROBLEM_LENGTH) };
        log.warn(detail, "A list could not be fetched; the last known list stays");
        this.#failure = `${method} failed: ${messageOf(error)}`;
      },
      limits: () => config.current.limits,
      onLimit,
      reduced: (method, why) => this.#reduced(method, why),
    });
  }

  /** Leaves out the tools that nobody could call, and logs each once per connection. */
  #callable(lists: ServerLists): ServerLists {
    const { serverId, log } = this.#options;
    const tools = lists.tools.filter(({ text, value }) => {
      if (!text.includes('"x-mcp-header"') || hasValidMirrors(value["inputSchema"])) return true;
      const tool = logText(value["name"]);
      if (!this.#uncallable.has(tool)) {
        log.warn({ server: serverId, tool }, "A tool is left out: an x-mcp-header in its inputSchema is not valid");
      }
      this.#uncallable.add(tool);
      return false;
    });
    if (tools.length === lists.tools.length) return lists;
    setHints(tools, hintsOf(lists.tools));
    return { ...lists, tools };
  }

  /** Logs a list that was accepted only in part, once, and shows it in the server's state. */
  #reduced(method: string, why: string | undefined): void {
    const { serverId, log, problemChanged } = this.#options;
    const before = this.#reductions.get(method);
    if (why === undefined) this.#reductions.delete(method);
    else this.#reductions.set(method, why);
    if (why === before) return;
    if (why !== undefined) log.warn({ server: serverId, method, reason: why }, "A list was accepted only in part");
    problemChanged();
  }

  #recovered(): void {
    this.#options.recovered();
    this.#options.problemChanged();
  }

  /** Retries a failed list with backoff while the connection lasts. */
  #retry(sync: Sync, attempt: number): void {
    clearTimeout(this.#timer);
    const again = async (): Promise<void> => {
      if (this.#sync !== sync) return;
      this.#failure = undefined;
      await sync.all();
      if (this.#sync !== sync) return;
      if (this.#failure) this.#retry(sync, attempt + 1);
      else this.#recovered();
    };
    this.#timer = setTimeout(() => void again(), backoffMs(attempt)).unref();
  }
}
