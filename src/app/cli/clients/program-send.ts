/** Sends a client's messages to a program over stdin and stdout, one request at a time or many. */

import { recordOf } from "../../../lib/structures/record.ts";
import type { LinkEvents } from "../../../mcp/links/link.ts";
import { stdioLink } from "../../../mcp/links/stdio.ts";
import type { StdioTransport } from "../../../mcp/links/transport.ts";
import type { Send } from "../gateway/mcp-client.ts";

interface Waiting {
  readonly resolve: (response: Response) => void;
  readonly reject: (error: Error) => void;
}

const MESSAGE_CAP = 256 * 1024 * 1024;
const ACCEPTED = 202;

/** Starts the program. @throws Error that says why it cannot start */
export async function programSend(
  transport: StdioTransport,
): Promise<{ readonly send: Send; readonly close: () => Promise<void> }> {
  const waiting = new Map<number, Waiting>();
  let ended: Error | undefined;
  const fail = (error: Error): void => {
    ended = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const events: LinkEvents = {
    message(bytes) {
      const text = bytes.toString("utf8");
      const id = idOf(text);
      waiting.get(id)?.resolve(new Response(text, { headers: { "content-type": "application/json" } }));
      waiting.delete(id);
    },
    failed: (id, error) => waiting.get(id)?.reject(error),
    waiting: (id) => waiting.has(id),
    closed: fail,
    problem: () => {},
  };
  const link = await stdioLink({
    ...transport,
    stderr: () => {},
    redact: (text) => text,
    unsentCap: MESSAGE_CAP,
    messageCap: MESSAGE_CAP,
    onLimit: () => {},
  })(events);
  const send: Send = async (init) => {
    if (ended) throw ended;
    // There is no session to end.
    if (init.body === undefined || init.body === null) return new Response(null, { status: ACCEPTED });
    const text = String(init.body);
    const { id } = recordOf(JSON.parse(text));
    if (typeof id !== "number") {
      link.send(text);
      return new Response(null, { status: ACCEPTED });
    }
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      link.send(text, { id });
    });
  };
  return { send, close: () => link.close() };
}

/** NaN for what is no answer. */
function idOf(text: string): number {
  try {
    const { id, method } = recordOf(JSON.parse(text));
    return typeof id === "number" && method === undefined ? id : Number.NaN;
  } catch {
    return Number.NaN;
  }
}
