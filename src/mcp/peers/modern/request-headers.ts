/**
 * Builds the headers that repeat parts of a 2026-07-28 request body: version, method, name, and
 * mirrored arguments.
 *
 * Invariant: a header repeats the params that are sent, never those that the client sent: rules set
 * and hide arguments, and secrets are masked.
 *
 * Plain calls of one tool share one frozen object, so that links can cache by identity. The number
 * of cached objects is bounded, no matter what clients send.
 */

import { memberText } from "../../../lib/json/json-text.ts";
import type { Call } from "../../protocol/call.ts";
import type { Flight } from "../../protocol/flight.ts";
import { encodeHeader, MIRROR_PREFIX, mirroredValue, mirrorsOf, nameFields } from "../../protocol/mirrors.ts";

type Headers = Readonly<Record<string, string>>;

const MAX_KEPT = 10_000;

export class RequestHeaders {
  readonly #version: string;
  readonly #inputSchema: (tool: string) => unknown;
  /** Headers of tool calls, by tool name. */
  readonly #calls = new Map<string, Headers>();

  constructor(version: string, inputSchema: (tool: string) => unknown) {
    this.#version = version;
    this.#inputSchema = inputSchema;
  }

  of(method: string, params: string, flight: Flight | undefined): Headers {
    const call = flight?.call;
    const field = nameFields.get(method);
    if (field === undefined) return { ...call?.trace, ...this.#plain(method) };
    if (method === "tools/call" && flight?.target !== undefined)
      return this.#ofCall(flight.call, flight.target, params);
    const name: unknown = JSON.parse(memberText(params, field) ?? "null");
    const named = typeof name === "string" ? { "mcp-name": encodeHeader(name) } : undefined;
    return { ...call?.trace, ...this.#plain(method), ...named };
  }

  #ofCall(call: Call, tool: string, params: string): Headers {
    let plain = this.#calls.get(tool);
    if (!plain) {
      plain = Object.freeze({ ...this.#plain("tools/call"), "mcp-name": encodeHeader(tool) });
      if (this.#calls.size < MAX_KEPT) this.#calls.set(tool, plain);
    }
    const mirrors = mirrorsOf(this.#inputSchema(tool));
    if (mirrors.length === 0 && !call.trace) return plain;
    const headers: Record<string, string> = { ...call.trace, ...plain };
    for (const { header, path } of mirrors) {
      const value = mirroredValue(valueAt(params, ["arguments", ...path]), []);
      if (value !== undefined) headers[MIRROR_PREFIX + header] = encodeHeader(value);
    }
    return headers;
  }

  #plain(method: string): Record<string, string> {
    return { "mcp-protocol-version": this.#version, "mcp-method": method };
  }
}

/** The value at a path in JSON; undefined if it is missing, an object or a list. */
function valueAt(json: string, path: readonly string[]): unknown {
  let text: string | undefined = json;
  for (const key of path) {
    text = memberText(text, key);
    if (text === undefined) return undefined;
  }
  return text.startsWith("{") || text.startsWith("[") ? undefined : JSON.parse(text);
}
