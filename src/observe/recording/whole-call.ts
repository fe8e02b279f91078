/**
 * A line that holds a whole call: the params of the client's request, the message to the server,
 * and the result. If that message has the same params but for the name of the tool or prompt, its
 * id and that name stand for it. The other messages can be made from these, so a plain call is a
 * quarter of the bytes of four lines, and of the work with them.
 *
 * Invariant: only where the messages that are made from the line have the same bytes as those that
 * passed. Every other call has a line for each message.
 */
import { memberText, setMember } from "../../lib/json/json-text.ts";
import { isRecord } from "../../lib/structures/record.ts";
import { answerText, requestText } from "../../mcp/protocol/json-rpc.ts";
import type { Frame, FrameHead } from "./frame.ts";

/** How many messages such a line stands for. */
export const WHOLE_FRAMES = 4;

/** The members of such a line, beside the params, the message to the server and the result. */
export interface WholeCall extends Pick<FrameHead, "t" | "outcome"> {
  readonly call: string;
  readonly method: string;
  readonly who?: string;
  readonly client?: string;
  readonly session?: string;
  readonly server: string;
  readonly link: number;
  /** When it was sent to the server, answered there, and answered here: microseconds after `t`. */
  readonly us: readonly [number, number, number];
  /** Which member the server's answer has first; undefined: `jsonrpc`. */
  readonly first?: string;
}

export function isWholeCall(line: object): line is WholeCall {
  const { us, sent, params } = line as { us?: unknown; sent?: unknown; params?: unknown };
  const isSent = Array.isArray(sent) ? typeof sent[0] === "number" && typeof sent[1] === "string" : isRecord(sent);
  return Array.isArray(us) && us.length === 3 && isSent && isRecord(params) && "result" in line;
}

/** Returns the messages of a line. */
export function framesOfCall(line: string, whole: WholeCall): Frame[] {
  const { t, call, method, who, client, session, server, link, us, outcome, first } = whole;
  const params = memberText(line, "params") ?? "{}";
  const sent = sentMessage(memberText(line, "sent") ?? "{}", method, params);
  const id = memberText(sent, "id") ?? "null";
  const result = memberText(line, "result") ?? "null";
  const received =
    first === "result"
      ? `{"result":${result},"jsonrpc":"2.0","id":${id}}`
      : `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
  const about = { call, method, who, client, session };
  const [toServer, fromServer, toClient] = us.map((microseconds) => Math.round(t * 1000 + microseconds) / 1000);
  const asked = requestText(call, method, params);
  const answered = answerText(call, { ok: true, raw: result });
  const ms = us[2] / 1000;
  return [
    { t, side: "client", dir: "in", ...about, message: asked },
    { t: toServer!, side: "server", dir: "out", ...about, server, link, message: sent },
    { t: fromServer!, side: "server", dir: "in", ...about, server, link, message: received },
    { t: toClient!, side: "client", dir: "out", ...about, server, ms, outcome, message: answered },
  ];
}

/** Returns the message to the server. `sent`: that message, or its id and the name in it. */
function sentMessage(sent: string, method: string, params: string): string {
  if (!sent.startsWith("[")) return sent;
  const [id, name] = JSON.parse(sent) as [number, string];
  return requestText(id, method, setMember(params, "name", JSON.stringify(name)));
}
