/**
 * Reads a server's description of itself and limits its size. The gateway keeps it as long as the
 * connection lasts, and sends much of it to every client.
 */

import { depthOf } from "../../lib/json/json-elements.ts";
import { recordOf } from "../../lib/structures/record.ts";
import { GoblinError } from "../protocol/errors.ts";
import { type Raw, rawText } from "../protocol/json-rpc.ts";
import type { PeerInfo } from "./peer.ts";

const MAX_BYTES = 4 * 1024 * 1024;
/** The maximum for the capabilities and for the server info. */
const MAX_CHARACTERS = 64 * 1024;
const MAX_DEPTH = 100;
const INSTRUCTIONS = 16 * 1024;

/** Returns the members of the answer. Throws if it is too large or nested too deeply. */
export function readDescription(raw: Raw): Readonly<Record<string, unknown>> {
  if (raw.length > MAX_BYTES) {
    throw unusable(`the answer to the handshake has ${raw.length} bytes, and may have ${MAX_BYTES}`);
  }
  const text = rawText(raw);
  if (depthOf(text) > MAX_DEPTH) throw unusable("the answer to the handshake is nested too deep");
  return recordOf(JSON.parse(text));
}

export function infoFrom(
  protocolVersion: string,
  said: Readonly<Record<"capabilities" | "serverInfo" | "instructions", unknown>>,
): PeerInfo {
  const capabilities = recordOf(said.capabilities);
  if (JSON.stringify(capabilities).length > MAX_CHARACTERS) {
    throw unusable(`its capabilities have more than ${MAX_CHARACTERS} characters`);
  }
  const serverInfo = recordOf(said.serverInfo);
  const isLong = JSON.stringify(serverInfo).length > MAX_CHARACTERS;
  return {
    protocolVersion,
    capabilities,
    serverInfo: isLong ? essentials(serverInfo) : serverInfo,
    instructions: typeof said.instructions === "string" ? cut(said.instructions) : undefined,
  };
}

/** Keeps only the short standard members, without icons. */
function essentials(serverInfo: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const short = Object.entries(serverInfo).filter(([, value]) => typeof value === "string" && value.length <= 1000);
  return Object.fromEntries(short.filter(([key]) => ["name", "title", "version"].includes(key)));
}

/** Cuts at the end of a line or word and adds a note. */
function cut(instructions: string): string {
  if (instructions.length <= INSTRUCTIONS) return instructions;
  const head = instructions.slice(0, INSTRUCTIONS);
  const boundary = Math.max(head.lastIndexOf("\n"), head.lastIndexOf(" "));
  const kept = boundary > INSTRUCTIONS / 2 ? head.slice(0, boundary) : head.replace(/[\ud800-\udbff]$/, "");
  // A slice would keep the whole original string in memory; the round trip through bytes copies it.
  return Buffer.from(`${kept.trimEnd()}\n\n[cut by the gateway: ${instructions.length} characters]`).toString("utf8");
}

function unusable(why: string): GoblinError {
  return new GoblinError("BACKEND_UNAVAILABLE", `The server cannot be used: ${why}`);
}
