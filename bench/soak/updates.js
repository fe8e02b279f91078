// @ts-check
// Who is subscribed to which resource, and what that client has seen of it. A resource is changed
// only when everybody has seen its change before, so no update can stand in for one that was lost.
// A change is seen when the client, told of it, read a value at least as new.

import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const KEPT = 5;

/**
 * @typedef {{ client: any, server: string, uri: string, active: boolean, seen: number, owed:
 *   number, since: number, history: string[] }} Subscription
 */
/**
 * @typedef {{ problems: import("./problems.js").Problems, hub: import("./hub.js").Hub, folder:
 *   string, random: import("./random.js").Random }} UpdatesOptions
 */
/** @typedef {ReturnType<typeof createUpdates>} Updates */

/**
 * The last things that happened to a subscription, for the failure report.
 * @param {Subscription} subscription
 * @param {string} what
 */
export function note({ history }, what) {
  history.push(`${what} at ${Math.round(performance.now())} ms`);
  if (history.length > KEPT) history.shift();
}

/** @param {UpdatesOptions} options */
export function createUpdates({ problems, hub, folder, random }) {
  /** @type {Set<Subscription>} */
  const all = new Set();
  /** @type {Map<string, number>} */
  const versions = new Map();
  const counts = { changes: 0, updates: 0 };
  const keyOf = (/** @type {{ server: string, uri: string }} */ { server, uri }) => `${server} ${uri}`;
  const isOwed = (/** @type {Subscription} */ { seen, owed }) => owed > seen;

  return {
    counts,
    /**
     * A wish; it counts once it is active.
     * @param {any} client
     * @param {string} server
     * @param {string} uri
     * @returns {Subscription}
     */
    add(client, server, uri) {
      /** @type {Subscription} */
      const subscription = { client, server, uri, active: false, seen: 0, owed: 0, since: 0, history: [] };
      all.add(subscription);
      return subscription;
    },
    /** @param {any} client */
    of: (client) => [...all].filter((subscription) => subscription.client === client),
    /** @param {any} client */
    gone(client) {
      for (const subscription of all) if (subscription.client === client) all.delete(subscription);
    },
    /** Changes a resource that nobody is owed anything of. */
    change() {
      const free = [...all].filter(({ active }) => active);
      if (free.length === 0) return;
      const one = random.pick(free);
      const key = keyOf(one);
      const concerned = [...all].filter((other) => keyOf(other) === key);
      if (concerned.some(isOwed)) return;
      const version = (versions.get(key) ?? 0) + 1;
      versions.set(key, version);
      counts.changes++;
      const file = join(folder, `${one.server}.${one.uri.replace(/\W+/g, "-")}`);
      writeFileSync(`${file}.new`, String(version));
      renameSync(`${file}.new`, file);
      for (const other of concerned.filter(({ active }) => active)) {
        other.owed = version;
        other.since = performance.now();
      }
      hub.tell(one.server, { changed: one.uri });
    },
    /**
     * The client was told of a change; answers what it has to read.
     * @param {any} client
     * @param {string} server
     * @param {string} uri
     */
    told(client, server, uri) {
      counts.updates++;
      const found = [...all].find((other) => other.client === client && other.server === server && other.uri === uri);
      if (!found) problems.add("foreignUpdates", `${client.id} was told of ${uri} of ${server}`);
      else note(found, "told");
      return found;
    },
    /** @param {Subscription} subscription @param {number} version */
    read(subscription, version) {
      note(subscription, `read ${version}`);
      subscription.seen = Math.max(subscription.seen, version);
    },
    /** Subscriptions whose client has not seen the last change, or that were not granted. */
    get open() {
      return [...all].filter((subscription) => isOwed(subscription) || !subscription.active).length;
    },
    settle() {
      for (const subscription of all) {
        const { client, server, uri, owed, since, history, active } = subscription;
        const who = `${client.id} (${client.kind}): ${server} ${uri}`;
        if (!active) problems.add("lostUpdates", `${who} cannot be subscribed to`);
        else if (isOwed(subscription)) {
          const when = `change ${owed} at ${Math.round(since)} ms`;
          problems.add("lostUpdates", `${who}, ${when}; before and after: ${history.join(", ")}`);
        }
      }
    },
  };
}
