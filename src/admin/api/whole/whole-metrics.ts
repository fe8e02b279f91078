/**
 * `/metrics` of a gateway with workers: the sum of all of them.
 *
 * Counters do not fall when a worker is replaced: its last values stay in the sum. They
 * begin again only with the first worker, which keeps this.
 */
import { ANYONE } from "../../../mcp/protocol/principal.ts";
import type { Families, Metrics } from "../../../observe/telemetry/metrics.ts";
import type { Siblings } from "./siblings.ts";

/** As many ended workers are remembered one by one. Then the oldest is forgotten. */
const MAX_ENDED = 1000;

export class WholeMetrics {
  readonly #load: () => Promise<Metrics>;
  readonly #siblings: Siblings;
  readonly #path: string;
  /** What was last read of each worker, by its id. */
  readonly #last = new Map<string, Families>();

  /** `path`: where each worker shows its own. */
  constructor(load: () => Promise<Metrics>, siblings: Siblings, path: string) {
    this.#load = load;
    this.#path = path;
    this.#siblings = siblings;
  }

  async load(): Promise<Pick<Metrics, "contentType" | "text">> {
    const metrics = await this.#load();
    return {
      contentType: metrics.contentType,
      text: async (options) => metrics.text({ ...options, others: await this.#others() }),
    };
  }

  async #others(): Promise<Families[]> {
    const { others } = this.#siblings;
    const answers = await this.#siblings.all({ method: "GET", path: this.#path, principal: ANYONE });
    for (const { worker, text, status } of answers) {
      const id = others.find(({ number }) => number === worker)?.id;
      if (id !== undefined && status === 200) this.#last.set(id, known(JSON.parse(text)));
    }
    const isOpen = (id: string): boolean => others.some((other) => other.id === id);
    if (this.#last.size > MAX_ENDED + others.length) this.#last.delete(this.#last.keys().next().value!);
    return [...this.#last].map(([id, families]) => (isOpen(id) ? families : counted(families)));
  }
}

/** A value that is not a number is not one in JSON either. */
function known(families: Families): Families {
  return families.map((family) => ({ ...family, values: family.values.filter(({ value }) => value !== null) }));
}

/** What still counts of a worker that has ended. */
function counted(families: Families): Families {
  return families.filter(({ type }) => String(type) === "counter" || String(type) === "histogram");
}
