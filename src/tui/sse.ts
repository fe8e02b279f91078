/**
 * Parses server-sent events from a fetch body.
 *
 * Invariant: chunks may break anywhere, even inside a character or a line ending. Comments only
 * keep the connection alive; they are never reported.
 */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Returns a function that takes text as it arrives; `onEvent` is called for every complete event.
 */
export function createSseParser(onEvent: (event: SseEvent) => void): (chunk: string) => void {
  let rest = "";
  let event = "";
  let data: string[] = [];
  const takeLine = (line: string): void => {
    if (line === "") {
      if (data.length > 0) onEvent({ event: event === "" ? "message" : event, data: data.join("\n") });
      event = "";
      data = [];
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    if (field === "data") data.push(value);
  };
  return (chunk) => {
    rest += chunk;
    // A trailing carriage return may be half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) takeLine(line);
  };
}
