// @ts-check
// Which servers are disturbed, as seen through which gateway, and when. Calls in calm weather have
// to succeed; so a disturbance begins with its fault, ends with the first success of a call that
// began after the fault had struck, and counts for no longer than a server may be away.

/**
 * After this a server that was disturbed has no excuse any more: a gateway waits up to 37 s before
 * it tries again.
 */
const LONGEST_MS = 40_000;

/** @typedef {{ from: number, struck: number, to: number }} Spell */
/** @typedef {ReturnType<typeof createWeather>} Weather */

export function createWeather() {
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
        const spell = { from, struck: armed ? Number.POSITIVE_INFINITY : from, to: from + LONGEST_MS };
        const key = keyOf(gateway, server);
        spells.set(key, [...(spells.get(key) ?? []), spell]);
        return spell;
      });
      return () => {
        const now = performance.now();
        for (const spell of begun) Object.assign(spell, { struck: now, to: now + LONGEST_MS });
      };
    },
    /**
     * A call that began at `start` succeeded.
     * @param {string} gateway
     * @param {string} server
     * @param {number} start
     */
    succeeded(gateway, server, start) {
      const now = performance.now();
      for (const spell of spells.get(keyOf(gateway, server)) ?? []) {
        if (spell.struck < start && spell.to > now) spell.to = now;
      }
    },
    /** @param {string} gateway @param {string} server @param {number} from @param {number} to */
    isCalm(gateway, server, from, to) {
      return !(spells.get(keyOf(gateway, server)) ?? []).some((spell) => spell.from <= to && spell.to >= from);
    },
  };
}
