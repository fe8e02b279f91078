// @ts-check
// Every call of every client, by its nonce, and what must be true of it: exactly one answer; its
// own content; executed once, by the server that was asked, if it has a result and not more than
// once if it has none; all that was said in it came to its owner.

import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** Errors that a call may end with while servers are broken on purpose. */
const HONEST = new Set(["BACKEND_UNAVAILABLE", "TIMEOUT", "LimitExceeded", "BACKEND_ERROR", "CANCELLED"]);
/** What is said in a call may come on another stream than its answer. */
const AFTER_MS = 1000;
const KEPT = 6;

/**
 * @typedef {{ nonce: string, client: string, gateway: string, server: string, tool: string, start:
 *   number, end: number, state: "open" | "ok" | "refused" | "cut" | "given up", progress: number,
 *   logs: number, told: { progress: number, logs: number }, wasStopped: boolean }} Entry
 */
/**
 * @typedef {{ problems: import("./problems.js").Problems, weather: import("./weather.js").Weather,
 *   folder: string, servers: readonly string[] }} LedgerOptions
 */
/** @typedef {ReturnType<typeof createLedger>} Ledger */

/** @param {string} nonce */
export const ownerOf = (nonce) => nonce.slice(0, nonce.indexOf("."));

/** @param {LedgerOptions} options */
export function createLedger({ problems, weather, folder, servers }) {
  /** @type {Map<string, Entry>} */
  const entries = new Map();
  /**
   * How often each nonce, and each of its rounds, stands in the books.
   * @type {Map<string, { server: string, count: number }>}
   */
  const executed = new Map();
  /** @type {Map<string, { at: number, rest: string }>} */
  const places = new Map();
  const counts = {
    calls: 0,
    ok: 0,
    refused: 0,
    cut: 0,
    calm: 0,
    calmFailed: 0,
    questions: 0,
    progress: 0,
    logs: 0,
    tasks: 0,
  };
  /** The first calls that failed in calm weather, in words. @type {string[]} */
  const calmFailures = [];
  /** How often calls failed in calm weather, by server and reason. @type {Map<string, number>} */
  const calmReasons = new Map();
  /** Why each server's calls were refused last. @type {Map<string, string>} */
  const reasons = new Map();
  let last = 0;

  const ledger = {
    counts,
    reasons,
    calmFailures,
    calmReasons,
    /** @param {string} nonce */
    get: (nonce) => entries.get(nonce),
    /** @param {Pick<Entry, "client" | "gateway" | "server" | "tool">} what @returns {Entry} */
    begin(what) {
      const start = performance.now();
      const nonce = `${what.client}.${++last}`;
      /** @type {Entry} */
      const entry = {
        ...what,
        nonce,
        start,
        end: 0,
        state: "open",
        progress: 0,
        logs: 0,
        told: { progress: 0, logs: 0 },
        wasStopped: false,
      };
      entries.set(nonce, entry);
      counts.calls++;
      return entry;
    },
    /** The call has a result. @param {Entry} entry @param {any} content what says whose it is */
    ok(entry, content) {
      close(entry, "ok");
      const { nonce, server } = entry;
      if (content?.nonce !== nonce || content?.server !== server) {
        problems.add("foreignAnswers", `${words(entry)} got ${JSON.stringify(content)}`);
      }
      weather.succeeded(entry, entry.start);
    },
    /** The call was answered with an error. @param {Entry} entry @param {any} error */
    refused(entry, error) {
      close(entry, "refused", error.message);
      reasons.set(entry.server, error.message);
      const { code, nonce } = error.data ?? {};
      if (nonce !== undefined && nonce !== entry.nonce) {
        problems.add("foreignAnswers", `${words(entry)} got ${JSON.stringify(error)}`);
      } else if (code === "INTERNAL_ERROR") problems.add("internal", `${words(entry)}: ${JSON.stringify(error)}`);
      else if (!HONEST.has(code) && error.message !== "spoiled") {
        problems.add("misleading", `${words(entry)}: ${JSON.stringify(error)}`);
      }
    },
    /**
     * The call lost its connection, which may be; or its client gave it up.
     * @param {Entry} entry
     * @param {"cut" | "given up"} [state]
     */
    cut(entry, state = "cut") {
      close(entry, state);
    },
    /** @param {Entry} entry @param {string} why */
    lost(entry, why) {
      close(entry, "cut");
      problems.add("lostAnswers", `${words(entry)}: ${why}`);
    },

    /** The calls that a client waits for, in words. @param {string} client */
    openOf: (client) =>
      [...entries.values()].filter((entry) => entry.client === client && entry.state === "open").map(words),

    /** Reads on in the books. */
    readBooks() {
      for (const server of servers) for (const line of newLines(server)) take(server, JSON.parse(line));
    },
    /**
     * The last judgement, when nothing is under way any more.
     * @param {{ isOut: (gateway: string, from: number, to: number) => boolean, telling:
     *   ReadonlySet<string> }} world
     */
    settle({ isOut, telling }) {
      ledger.readBooks();
      for (const entry of entries.values()) {
        const { nonce, gateway, server, state, start, end, told } = entry;
        const by = executed.get(nonce);
        if (state === "ok" && by?.server !== server) problems.add("notExecuted", words(entry));
        // A request that was not yet read when its connection was closed may go; one that was
        // executed has an answer.
        if (entry.wasStopped && by) problems.add("cutByStop", words(entry));
        if (state !== "ok" || !weather.isCalm(entry, start, end + AFTER_MS)) continue;
        if (isOut(gateway, start, end + AFTER_MS)) continue;
        if (entry.progress !== told.progress)
          problems.add("lostProgress", `${words(entry)}: ${told.progress} of ${entry.progress}`);
        if (entry.tool === "tell" && telling.has(server) && entry.logs !== told.logs) {
          problems.add("lostLogs", `${words(entry)}: ${told.logs} of ${entry.logs}`);
        }
      }
    },
  };
  return ledger;

  /** @param {Entry} entry @param {Entry["state"]} state @param {string} [why] */
  function close(entry, state, why = state) {
    entry.end = performance.now();
    entry.state = state;
    if (state === "given up") return;
    const isOk = state === "ok";
    counts[isOk ? "ok" : state === "cut" ? "cut" : "refused"]++;
    if (!weather.isCalm(entry, entry.start, entry.end)) return;
    counts.calm++;
    if (isOk) return;
    counts.calmFailed++;
    const reason = `${entry.server}: ${why}`;
    calmReasons.set(reason, (calmReasons.get(reason) ?? 0) + 1);
    if (calmFailures.length < KEPT) calmFailures.push(`${words(entry)}: ${why}`);
  }

  /** @param {string} server @param {{ nonce: string, pid: number, round?: string }} line */
  function take(server, { nonce, pid, round }) {
    const key = round === undefined ? nonce : `${nonce} ${round}`;
    const known = executed.get(key);
    if (!known) return void executed.set(key, { server, count: 1 });
    known.count++;
    const entry = entries.get(nonce);
    problems.add("executedTwice", `${entry ? words(entry) : nonce}, by ${server} (process ${pid})`);
  }

  /** @param {string} server */
  function newLines(server) {
    const place = places.get(server) ?? { at: 0, rest: "" };
    places.set(server, place);
    const chunk = Buffer.alloc(65_536);
    let file;
    try {
      file = openSync(join(folder, `${server}.book`), "r");
    } catch {
      return [];
    }
    let text = place.rest;
    for (let read = 1; read > 0; place.at += read) {
      read = readSync(file, chunk, 0, chunk.length, place.at);
      text += chunk.toString("utf8", 0, read);
    }
    closeSync(file);
    const lines = text.split("\n");
    place.rest = lines.pop() ?? "";
    return lines;
  }
}

/** @param {Entry} entry */
export function words({ nonce, server, tool, gateway, start, end }) {
  const ms = end > 0 ? `, ${Math.round(end - start)} ms` : "";
  return `${nonce} (${server}_${tool} through ${gateway}${ms})`;
}
