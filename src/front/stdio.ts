/**
 * The gateway on stdin and stdout, for clients that start it themselves: one JSON message a line.
 * Only messages go to stdout; `closed` resolves when stdin ends.
 */
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { oneLine } from "../model/json-text.ts";
import type { Core } from "./core.ts";
import { LegacyChannel } from "./legacy-channel.ts";

export interface StdioFront {
  readonly closed: Promise<void>;
  close(): void;
}

export function serveStdio(core: Core, streams: { readonly input: Readable; readonly output: Writable }): StdioFront {
  const { input, output } = streams;
  const channel = new LegacyChannel({ core, principal: "", write: (text) => void output.write(`${oneLine(text)}\n`) });
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on("line", (line) => {
    if (line.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return channel.unreadable();
    }
    channel.receive(value, line);
  });
  output.on("error", () => lines.close());
  const closed = new Promise<void>((resolve) => {
    lines.once("close", () => {
      channel.close();
      resolve();
    });
  });
  return { closed, close: () => lines.close() };
}
