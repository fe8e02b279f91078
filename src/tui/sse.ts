/**
 * Reads server-sent events from a fetch body.
 *
 * What must always hold: chunks may break anywhere, also inside a character or a line end; comments
 * keep the connection alive and are reported as nothing else.
 */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/** Feed it text as it arrives; it calls back for every event and every sign of life. */
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
    // A carriage return at the very end may be half of a line end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) takeLine(line);
  };
}
