// @ts-check
// Which servers are disturbed, as seen through which gateway, and when. Calls in calm weather have
// to succeed; so a disturbance begins with its fault, ends with the first success of a call that
// began after the fault had struck, and counts for no longer than a server may be away. Where each
// client has a process of its own, a success says nothing about the processes of other clients.

/**
 * After this a server that was disturbed has no excuse any more: a gateway waits up to 37 s before
 * it tries again.
 */
const MAX_MS = 40_000;

/**
 * `over`: when it ended for a client that has a process of its own.
 * @typedef {{ from: number, struck: number, to: number, over: Map<string, number> }} Spell
 */
/** @typedef {{ gateway: string, server: string, client: string }} Place */
/** @typedef {ReturnType<typeof createWeather>} Weather */

/** @param {ReadonlySet<string>} [personal] servers of which each client has a process of its own */
export function createWeather(personal = new Set()) {
  /** @type {Map<string, Spell[]>} */
  const spells = new Map();
  const keyOf = (/** @type {string} */ gateway, /** @type {string} */ server) => `${gateway} ${server}`;

  return {
    /**
     * Something is done to a server. `armed`: it strikes later; the returned function says when.
     * @param {readonly string[]} gateways
     * @param {string} server
     * @param {{ armed?: boolean }} [options]
     */
    disturb(gateways, server, { armed = false } = {}) {
      const from = performance.now();
      const begun = gateways.map((gateway) => {
        const struck = armed ? Number.POSITIVE_INFINITY : from;
        /** @type {Spell} */
        const spell = { from, struck, to: from + MAX_MS, over: new Map() };
        const key = keyOf(gateway, server);
        spells.set(key, [...(spells.get(key) ?? []), spell]);
        return spell;
      });
      return () => {
        const now = performance.now();
        for (const spell of begun) Object.assign(spell, { struck: now, to: now + MAX_MS, over: new Map() });
      };
    },
    /**
     * A call that began at `start` succeeded.
     * @param {Place} place
     * @param {number} start
     */
    succeeded({ gateway, server, client }, start) {
      const now = performance.now();
      for (const spell of spells.get(keyOf(gateway, server)) ?? []) {
        if (spell.struck >= start || spell.to <= now) continue;
        if (!personal.has(server)) spell.to = now;
        else if (!spell.over.has(client)) spell.over.set(client, now);
      }
    },
    /** @param {Place} place @param {number} from @param {number} to */
    isCalm({ gateway, server, client }, from, to) {
      const known = spells.get(keyOf(gateway, server)) ?? [];
      return !known.some((spell) => spell.from <= to && (spell.over.get(client) ?? spell.to) >= from);
    },
  };
}
