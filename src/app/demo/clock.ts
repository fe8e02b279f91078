/**
 * Demo server `clock`: the time in any time zone, and a resource that changes every second.
 */
import { type Demo, type Fields, stringArgument, structured, ToolFailure } from "./demo.ts";

const NOW = "clock://now";

const moment = {
  type: "object",
  properties: {
    iso: { type: "string", description: "The moment in UTC, ISO 8601" },
    timeZone: { type: "string" },
    local: { type: "string", description: "Date and time of day in that zone" },
    offset: { type: "string", description: "Offset from UTC, such as GMT+02:00" },
  },
  required: ["iso", "timeZone", "local", "offset"],
};

export function createClock(): Demo {
  return {
    info: { name: "clock", title: "Clock", version: "1.0.0" },
    instructions: "Tells the time in any IANA time zone. Subscribe to clock://now to watch a resource change.",
    tools: [
      {
        definition: {
          name: "now",
          title: "Current time",
          description: "The current time, in UTC or in a time zone",
          inputSchema: {
            type: "object",
            properties: { timeZone: { type: "string", description: "IANA name such as Asia/Tokyo", default: "UTC" } },
          },
          outputSchema: moment,
          annotations: { readOnlyHint: true, openWorldHint: false },
        },
        run: (args) => structured(describe(new Date(), args.timeZone ? stringArgument(args, "timeZone") : "UTC")),
      },
      {
        definition: {
          name: "convert",
          title: "Convert a time",
          description: "Converts a time to another time zone",
          inputSchema: {
            type: "object",
            properties: {
              time: { type: "string", description: "ISO 8601 with offset, such as 2026-07-28T09:00:00+02:00" },
              to: { type: "string", description: "IANA name of the time zone" },
            },
            required: ["time", "to"],
          },
          outputSchema: moment,
          annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
        },
        run: (args) => {
          const time = stringArgument(args, "time");
          const date = new Date(time);
          if (Number.isNaN(date.getTime())) throw new ToolFailure(`Not a time: ${time}`);
          return structured(describe(date, stringArgument(args, "to")));
        },
      },
    ],
    resources: {
      list: () => [
        { uri: NOW, name: "now", title: "Now", description: "Changes every second", mimeType: "text/plain" },
      ],
      templates: () => [],
      read: (uri) => (uri === NOW ? { uri, mimeType: "text/plain", text: new Date().toISOString() } : undefined),
    },
    start(changes, signal) {
      const tick = setInterval(() => changes.resourceUpdated(NOW), 1000);
      signal.addEventListener("abort", () => clearInterval(tick), { once: true });
    },
  };
}

function describe(date: Date, timeZone: string): Fields {
  try {
    const parts = new Intl.DateTimeFormat("en-CA", {
      timeZone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
      timeZoneName: "longOffset",
    }).formatToParts(date);
    const part = (type: string) => parts.find((candidate) => candidate.type === type)?.value ?? "";
    const local = `${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}:${part("second")}`;
    return { iso: date.toISOString(), timeZone, local, offset: part("timeZoneName") };
  } catch {
    throw new ToolFailure(`Unknown time zone: ${timeZone}`);
  }
}
