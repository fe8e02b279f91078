/**
 * Puts the frames of a recording together: each request with its answer and the notifications that
 * came before it, as a client or as one server saw it.
 */
import { memberText } from "../../lib/json/json-text.ts";
import type { Frame } from "./frame.ts";

export interface Exchange {
  readonly method: string;
  /** Raw JSON. */
  readonly params: string;
  /** Raw JSON of the result or the error; undefined if it was not recorded. */
  readonly answer: string | undefined;
  readonly ok: boolean;
  readonly notifications: readonly string[];
  /** Whether something was masked in the request, or in the answer. */
  readonly isMasked: { readonly request: boolean; readonly answer: boolean };
  readonly request: Frame;
  readonly end: Frame | undefined;
}

type Open = { -readonly [Key in keyof Exchange]: Exchange[Key] } & { notifications: string[] };

/** `server`: as this server saw it; undefined: as clients saw it. */
export function exchangesOf(frames: Iterable<Frame>, server?: string): Exchange[] {
  const exchanges: Open[] = [];
  const open = new Map<string, Open>();
  const side = server === undefined ? "client" : "server";
  /** Requests come in from clients, and go out to servers. */
  const asking = server === undefined ? "in" : "out";
  for (const frame of frames) {
    if (frame.side !== side || (server !== undefined && frame.server !== server) || frame.message === undefined)
      continue;
    const method = textMember(frame.message, "method");
    const id = memberText(frame.message, "id");
    const scope = server === undefined ? "" : `${frame.link} `;
    if (frame.dir === asking) {
      if (method === undefined || id === undefined) continue;
      const params = memberText(frame.message, "params") ?? "{}";
      const begun: Open = {
        method,
        params,
        answer: undefined,
        ok: true,
        notifications: [],
        request: frame,
        end: undefined,
        isMasked: { request: frame.masked === true, answer: false },
      };
      exchanges.push(begun);
      open.set(scope + id, begun);
      // Over a connection to a server, progress is told apart by its token.
      const token = server === undefined ? undefined : memberText(memberText(params, "_meta") ?? "{}", "progressToken");
      if (token !== undefined) open.set(`${scope}progress ${token}`, begun);
    } else if (method !== undefined && id === undefined) {
      const token = memberText(memberText(frame.message, "params") ?? "{}", "progressToken");
      const key = server === undefined ? JSON.stringify(frame.call) : `${scope}progress ${token}`;
      open.get(key)?.notifications.push(frame.message);
    } else if (method === undefined && id !== undefined) {
      const begun = open.get(scope + id);
      if (!begun || begun.end) continue;
      const result = memberText(frame.message, "result");
      begun.ok = result !== undefined;
      begun.answer = result ?? memberText(frame.message, "error");
      begun.isMasked = { ...begun.isMasked, answer: frame.masked === true };
      begun.end = frame;
    }
  }
  return exchanges;
}

function textMember(message: string, key: string): string | undefined {
  const text = memberText(message, key);
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  return typeof value === "string" ? value : undefined;
}
