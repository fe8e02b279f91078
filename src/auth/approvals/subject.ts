/**
 * What an approval is about: who asks for what, with which arguments, and by which rules that needs
 * a person. Two requests with the same key are the same question; whatever differs is another one.
 *
 * Invariants: the key comes from what the server would get, after the rules have set and removed
 * arguments, never from what is shown to people. A member of the params that the question does not
 * show never reaches the server, except for those that the protocol has around a request.
 */
import { createHash } from "node:crypto";
import { NotCanonical, unambiguous } from "../../lib/json/canonical.ts";
import { eachMember, memberText } from "../../lib/json/json-text.ts";
import type { Client } from "../../mcp/protocol/call.ts";
import { GoblinError } from "../../mcp/protocol/errors.ts";
import type { AskFirst, Principal } from "../../mcp/protocol/principal.ts";

export interface Subject {
  /** The principal's id. */
  readonly principal: string;
  /** The principal's name, for people. */
  readonly who: string;
  /** The OAuth client of the principal. */
  readonly app: string | null;
  /** What the client calls itself. */
  readonly client: string;
  /** The session's key; null: the client has none. */
  readonly session: string | null;
  readonly server: string;
  readonly kind: "tool" | "prompt" | "resource";
  /** The server's own name, or the URI. */
  readonly name: string;
  /** As the client knows it. */
  readonly shownName: string;
  /** Of the arguments that the server would get: `sha256:` and 64 hex digits. */
  readonly digest: string;
  /** The rules that ask, by name. */
  readonly rule: string;
  readonly reason: string | null;
  /** Identifies what these rules say. */
  readonly revision: string;
  /** Identifies the definition that was locked; null: there is no lock. */
  readonly lock: string | null;
}

export interface AskedRequest {
  readonly client: Pick<Client, "key" | "hasSession" | "info">;
  readonly who: Principal;
  readonly serverId: string;
  readonly kind: Subject["kind"];
  readonly name: string;
  readonly shownName: string;
  readonly asked: AskFirst;
  readonly lock?: string | undefined;
}

const MAX_CLIENT = 200;
/** What the question shows, by kind. */
const SHOWN: Readonly<Record<Subject["kind"], readonly string[]>> = {
  tool: ["name", "arguments"],
  prompt: ["name", "arguments"],
  resource: ["uri"],
};
/** What the protocol has around any request. */
const AROUND: readonly string[] = ["_meta", "task", "requestState", "inputResponses"];

/** Returns the subject and its arguments in canonical form. @throws GoblinError */
export function subjectOf(request: AskedRequest): { readonly subject: Subject; readonly args: string } {
  const { client, who, asked, kind } = request;
  assertShown(asked.params, request);
  const args = canonicalArguments(asked.params, kind);
  const name = client.info["name"];
  return {
    args,
    subject: {
      principal: who.id,
      who: who.name,
      app: who.client ?? null,
      client: typeof name === "string" ? name.slice(0, MAX_CLIENT) : "",
      session: client.hasSession ? client.key : null,
      server: request.serverId,
      kind,
      name: request.name,
      shownName: request.shownName,
      digest: `sha256:${createHash("sha256").update(args).digest("hex")}`,
      rule: asked.rule,
      reason: asked.reason ?? null,
      revision: asked.revision,
      lock: request.lock ?? null,
    },
  };
}

/** Equal keys: the same question. The session plays no part: a grant may be for one or for all. */
export function keyOf(subject: Subject): string {
  const { principal, app, client, server, kind, name, digest, revision, lock } = subject;
  const text = JSON.stringify([principal, app, client, server, kind, name, digest, revision, lock]);
  return createHash("sha256").update(text).digest("base64url");
}

function assertShown(params: string, { kind, shownName }: Pick<AskedRequest, "kind" | "shownName">): void {
  eachMember(params, 0, (key) => {
    if (SHOWN[kind].includes(key) || AROUND.includes(key)) return;
    const member = JSON.stringify(key.slice(0, MAX_CLIENT));
    const message = `a person must approve ${shownName}, and is not shown ${member}; send the request without it`;
    throw new GoblinError("INVALID_PARAMS", `Invalid params: ${message}`);
  });
}

function canonicalArguments(params: string, kind: Subject["kind"]): string {
  if (kind === "resource") return "{}";
  const text = memberText(params, "arguments");
  if (text === undefined || text === "null") return "{}";
  try {
    return unambiguous(text);
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    throw new GoblinError("INVALID_PARAMS", `Invalid params: "arguments": ${error.message}`);
  }
}
