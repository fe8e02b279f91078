/**
 * Builds the headers that repeat parts of a 2026-07-28 request body: version, method, name, and
 * mirrored arguments.
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
    if (method === "tools/call" && flight?.target !== undefined) return this.#ofCall(flight.call, flight.target);
    const name: unknown = JSON.parse(memberText(params, field) ?? "null");
    const named = typeof name === "string" ? { "mcp-name": encodeHeader(name) } : undefined;
    return { ...call?.trace, ...this.#plain(method), ...named };
  }

  #ofCall(call: Call, tool: string): Headers {
    let plain = this.#calls.get(tool);
    if (!plain) {
      plain = Object.freeze({ ...this.#plain("tools/call"), "mcp-name": encodeHeader(tool) });
      if (this.#calls.size < MAX_KEPT) this.#calls.set(tool, plain);
    }
    const mirrors = mirrorsOf(this.#inputSchema(tool));
    if (mirrors.length === 0 && !call.trace) return plain;
    const headers: Record<string, string> = { ...call.trace, ...plain };
    for (const { header, path } of mirrors) {
      const value = mirroredValue(call.params["arguments"], path);
      if (value !== undefined) headers[MIRROR_PREFIX + header] = encodeHeader(value);
    }
    return headers;
  }

  #plain(method: string): Record<string, string> {
    return { "mcp-protocol-version": this.#version, "mcp-method": method };
  }
}
