/**
 * The stage that masks keys and tokens in arguments and in results, as the config says for each
 * server.
 *
 * Invariants: it is off unless the config says otherwise, and costs nothing then. The server gets
 * no secret of the arguments, and no later stage sees one of the result.
 */
import type { LiveConfig } from "../../config/live-config.ts";
import { memberSpan } from "../../lib/json/json-text.ts";
import { finish, inSlices, type Sliced } from "../../lib/timing/slices.ts";
import type { Flight } from "../../mcp/protocol/flight.ts";
import { type Answer, rawBytes, rawOf, rawText } from "../../mcp/protocol/json-rpc.ts";
import type { Masker } from "../../observe/telemetry/masker.ts";
import type { Meters } from "../../observe/telemetry/meters.ts";
import type { Route } from "../routing/resolve.ts";
import { maskInSlices } from "./mask-json.ts";
import { type MaskCounts, SecretFinder } from "./secret-finder.ts";

type MaskSide = "arguments" | "results";

export interface MaskingParts {
  readonly config: Pick<LiveConfig, "current" | "on">;
  readonly masker: Pick<Masker, "known">;
  readonly meters: Pick<Meters, "countMasked">;
}

/** Larger texts are searched in slices. */
const LARGE = 256 * 1024;

export class Masking {
  readonly #parts: MaskingParts;
  /** The servers for which something is masked. */
  readonly #servers = new Map<string, { readonly arguments: boolean; readonly results: boolean }>();
  #finder: { readonly finder: SecretFinder; readonly known: readonly string[] } | undefined;

  constructor(parts: MaskingParts) {
    this.#parts = parts;
    const follow = (): void => {
      this.#servers.clear();
      this.#finder = undefined;
      for (const { id, masking } of parts.config.current.servers) if (masking) this.#servers.set(id, masking);
    };
    parts.config.on("changed", follow);
    follow();
  }

  send(flight: Flight, route: Route, next: (flight: Flight, route: Route) => Promise<Answer>): Promise<Answer> {
    const masked = this.#masked(flight, route);
    return masked instanceof Promise ? masked.then((found) => next(flight, found)) : next(flight, masked);
  }

  /** Returns the route with the arguments that the server may get. */
  #masked(flight: Flight, route: Route): Route | Promise<Route> {
    if (this.#servers.size === 0 || !this.#servers.get(route.serverId)?.arguments) return route;
    const { params } = route;
    const span = memberSpan(params, 0, "arguments");
    if (!span) return route;
    const given = params.slice(span.start, span.end);
    const counts: MaskCounts = new Map();
    const put = (masked: Buffer | undefined): Route => {
      if (!masked) return route;
      this.#counted(flight, route.serverId, { side: "arguments", counts });
      const text = `${params.slice(0, span.start)}${masked.toString("utf8")}${params.slice(span.end)}`;
      return { ...route, params: text };
    };
    const work = maskInSlices(Buffer.from(given), this.#current(), counts);
    return given.length > LARGE ? inSlices(work).then(put) : put(finish(work));
  }

  leave(flight: Flight, route: Route, answer: Answer): Answer | Promise<Answer> {
    if (this.#servers.size === 0 || !this.#servers.get(route.serverId)?.results) return answer;
    const { raw } = answer;
    // Most results have nothing that looks like one, and are not copied.
    if (raw.length <= LARGE && !this.#current().suspects(rawText(raw))) return answer;
    const counts: MaskCounts = new Map();
    const put = (masked: Buffer | undefined): Answer => {
      if (!masked) return answer;
      this.#counted(flight, route.serverId, { side: "results", counts });
      return answer.ok ? { ok: true, raw: rawOf(masked) } : { ...answer, raw: masked.toString("utf8") };
    };
    const work: Sliced<Buffer | undefined> = maskInSlices(rawBytes(raw), this.#current(), counts);
    return raw.length > LARGE ? inSlices(work).then(put) : put(finish(work));
  }

  #current(): SecretFinder {
    const { known } = this.#parts.masker;
    if (this.#finder?.known !== known) {
      const { except } = this.#parts.config.current.masking;
      this.#finder = { finder: new SecretFinder(known, except), known };
    }
    return this.#finder.finder;
  }

  #counted(flight: Flight, serverId: string, { side, counts }: { side: MaskSide; counts: MaskCounts }): void {
    for (const [format, count] of counts) {
      flight.masked += count;
      this.#parts.meters.countMasked({ serverId, side, format }, count);
    }
  }
}
