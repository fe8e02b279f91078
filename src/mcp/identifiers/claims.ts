/**
 * Finds the configured servers that own a name, by the prefixes in the config alone.
 *
 * Invariant: a name belongs to the servers with the longest matching prefix, regardless of their
 * state. One server's prefix can begin another's longer prefix. Its names under the longer prefix
 * then carry a suffix. A name of the longer prefix that only looks suffixed gets a real suffix. So
 * servers with different prefixes never share a name, regardless of their lists.
 */
export interface Claim {
  readonly serverId: string;
  /** The empty prefix claims all names that no other prefix claims. */
  readonly prefix: string;
}

interface Neighbours {
  /** The longer prefixes that begin with this server's prefix. */
  readonly longer: readonly string[];
  readonly hasShorter: boolean;
}

const NONE: readonly string[] = [];

export class Claims {
  readonly servers: readonly Claim[];
  readonly #suffix: RegExp;
  readonly #byPrefix = new Map<string, string[]>();
  /** The lengths of all prefixes, longest first. */
  readonly #lengths: readonly number[];
  readonly #neighbours = new Map<string, Neighbours>();

  /** `suffix` matches every name that ends in a distinguishing suffix. */
  constructor(servers: readonly Claim[], suffix: RegExp) {
    this.servers = servers;
    this.#suffix = suffix;
    for (const { serverId, prefix } of servers) {
      const same = this.#byPrefix.get(prefix);
      if (same) same.push(serverId);
      else this.#byPrefix.set(prefix, [serverId]);
    }
    const prefixes = [...this.#byPrefix.keys()];
    this.#lengths = [...new Set(prefixes.map(({ length }) => length))].sort((a, b) => b - a);
    for (const { serverId, prefix } of servers) {
      const longer = prefixes.filter((other) => other !== prefix && other.startsWith(prefix));
      const hasShorter = prefixes.some((other) => other !== prefix && prefix.startsWith(other));
      if (longer.length > 0 || hasShorter) this.#neighbours.set(serverId, { longer, hasShorter });
    }
  }

  /**
   * Returns the servers that own a name, or may own it if it has a suffix; the longest prefix
   * first.
   */
  of(name: string): readonly string[] {
    let found = NONE;
    for (const length of this.#lengths) {
      const same = length <= name.length ? this.#byPrefix.get(name.slice(0, length)) : undefined;
      if (!same) continue;
      found = found.length === 0 ? same : [...found, ...same];
      if (!this.#suffix.test(name)) break;
    }
    return found;
  }

  /** Returns whether the server's prefix is empty. */
  isCatchAll(serverId: string): boolean {
    return this.#byPrefix.get("")?.includes(serverId) ?? false;
  }

  /** Returns whether a server's name needs a suffix because another server could claim it. */
  needsSuffix(serverId: string, name: string): boolean {
    const neighbours = this.#neighbours.get(serverId);
    if (!neighbours) return false;
    if (neighbours.longer.some((prefix) => name.startsWith(prefix))) return true;
    return neighbours.hasShorter && this.#suffix.test(name);
  }

  /** Returns whether both have the same servers with the same prefixes, in the same order. */
  equals(other: Claims): boolean {
    const { servers } = other;
    return (
      servers.length === this.servers.length &&
      servers.every(({ serverId, prefix }, i) => {
        const own = this.servers[i]!;
        return own.serverId === serverId && own.prefix === prefix;
      })
    );
  }
}
