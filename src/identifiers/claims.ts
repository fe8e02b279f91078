/**
 * Which configured servers a name belongs to, by the prefixes in the config alone.
 *
 * Always holds: a name belongs to the servers with the longest prefix that begins it, in whatever
 * state they are. A server whose own prefix begins a longer one has names under the longer one too,
 * but only with a suffix; and what merely looks like a suffix under the longer one gets another.
 * So the names of servers with different prefixes never meet, whatever the servers list.
 */
export interface Claim {
  readonly serverId: string;
  /** The empty prefix claims what no other prefix does. */
  readonly prefix: string;
}

interface Neighbours {
  /** The longer prefixes that begin with the server's own. */
  readonly longer: readonly string[];
  readonly hasShorter: boolean;
}

const NONE: readonly string[] = [];

export class Claims {
  readonly servers: readonly Claim[];
  readonly #suffix: RegExp;
  readonly #byPrefix = new Map<string, string[]>();
  /** The lengths that prefixes have, the longest first. */
  readonly #lengths: readonly number[];
  readonly #neighbours = new Map<string, Neighbours>();

  /** `suffix` matches every name that ends in what tells names apart. */
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
   * The servers that a name belongs to, or may belong to if it has a suffix; the longest prefix
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

  /** Whether the server's prefix is the empty one. */
  isCatchAll(serverId: string): boolean {
    return this.#byPrefix.get("")?.includes(serverId) ?? false;
  }

  /**
   * Whether a server's own name for something needs a suffix, so that it cannot be another
   * server's.
   */
  needsSuffix(serverId: string, name: string): boolean {
    const neighbours = this.#neighbours.get(serverId);
    if (!neighbours) return false;
    if (neighbours.longer.some((prefix) => name.startsWith(prefix))) return true;
    return neighbours.hasShorter && this.#suffix.test(name);
  }

  /** Whether these are the same servers with the same prefixes, in the same order. */
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
