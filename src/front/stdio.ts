/**
 * The gateway on stdin and stdout, for clients that start it themselves: one JSON message a line.
 * Only messages go to stdout; `closed` resolves when stdin ends, or when the client lets too much
 * wait on stdout.
 */
import type { Readable, Writable } from "node:stream";
import { GoblinError } from "../protocol/errors.ts";
import { oneLine } from "../protocol/json-text.ts";
import { bodyTooLarge } from "../protocol/limit-exceeded.ts";
import { LineSplitter } from "../structures/lines.ts";
import type { Core } from "./core.ts";
import { LegacyChannel } from "./legacy/channel.ts";
import { ModernChannel } from "./modern/channel.ts";

export interface StdioFront {
  readonly closed: Promise<void>;
  close(): void;
}

export function serveStdio(core: Core, streams: { readonly input: Readable; readonly output: Writable }): StdioFront {
  const { input, output } = streams;
  const write = (text: string): void => {
    const line = `${oneLine(text)}\n`;
    if (output.write(line) || isClosed) return;
    // A message may be large; what counts is what was still waiting when it came.
    if (output.writableLength - line.length <= core.limits.unreadBytes) return;
    core.onLimit("unreadBytes");
    close();
  };
  const channel = new LegacyChannel({ core, principal: "", write });
  const modern = new ModernChannel(core, write);
  const take = (line: string): void => {
    if (line.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return channel.unreadable(new GoblinError("PARSE_ERROR", "Parse error: the message is not valid JSON"));
    }
    if (!modern.receive(value, line)) channel.receive(value, line);
  };
  const cap = core.limits.bodyBytes;
  const lines = new LineSplitter({
    cap,
    line: (line) => take(line.toString("utf8")),
    overflow: () => {
      core.onLimit("bodyBytes");
      channel.unreadable(bodyTooLarge(cap));
    },
  });
  let isClosed = false;
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => {
    close = () => {
      isClosed = true;
      input.pause();
      modern.close();
      channel.close();
      resolve();
    };
  });
  input.on("data", (chunk: Buffer) => lines.push(chunk));
  input.once("end", close);
  input.once("close", close);
  input.once("error", close);
  output.on("error", close);
  return { closed, close };
}
