/**
 * Demo server `lab`: one tool for each feature besides plain text: progress, cancellation, logging,
 * an image, a failure, a question to the user.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { logLevels } from "../../mcp/protocol/log-levels.ts";
import { type Demo, numberArgument, stringArgument, ToolFailure, text } from "./demo.ts";

/** A goblin, 16 by 16 pixels. */
const GOBLIN_PNG =
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQBAMAAADt3eJSAAAAElBMVEUgIChgqkD63EYUHhQ8eCj6+vCTh4vAAAAAS0lEQVR42mNgwACMEEqAgVGAUVBQgBHIEAQDAQYGCAOkCCrAwKgkKKgEZigLChqBGYIijoKoDGFjY0MQg0EwUFQQYglEN0hIENlyAFO9BUAuy/NIAAAAAElFTkSuQmCC";

export function createLab(): Demo {
  return {
    info: { name: "lab", title: "Lab", version: "1.0.0" },
    instructions: "Tools that show progress, cancellation, logging, images, failures and questions.",
    tools: [
      {
        definition: {
          name: "countdown",
          description: "Counts down with progress notifications; cancel it to see it stop",
          inputSchema: {
            type: "object",
            properties: {
              from: { type: "integer", minimum: 1, maximum: 100, default: 5 },
              delayMs: { type: "integer", minimum: 0, maximum: 10_000, default: 500 },
            },
          },
          annotations: { readOnlyHint: true, openWorldHint: false },
        },
        run: async (args, turn) => {
          const from = numberArgument(args, "from", { min: 1, max: 100, fallback: 5 });
          const delayMs = numberArgument(args, "delayMs", { min: 0, max: 10_000, fallback: 500 });
          for (let left = from; left > 0; left--) {
            turn.progress(from - left, from, `${left}…`);
            await sleep(delayMs, undefined, { signal: turn.signal });
          }
          return { content: [text(`Counted down from ${from}`)] };
        },
      },
      {
        definition: {
          name: "log",
          description: "Sends log messages to the client",
          inputSchema: {
            type: "object",
            properties: {
              message: { type: "string" },
              level: { type: "string", enum: [...logLevels], default: "info" },
              count: { type: "integer", minimum: 1, maximum: 100, default: 1 },
            },
            required: ["message"],
          },
        },
        run: (args, turn) => {
          const message = stringArgument(args, "message");
          const level = logLevels.find((candidate) => candidate === (args.level ?? "info"));
          if (!level) throw new ToolFailure(`Unknown level: ${args.level}`);
          const count = numberArgument(args, "count", { min: 1, max: 100, fallback: 1 });
          for (let n = 1; n <= count; n++) turn.log(level, { message, n });
          return { content: [text(`Logged ${count} × ${level}`)] };
        },
      },
      {
        definition: { name: "portrait", description: "A very small picture", inputSchema: { type: "object" } },
        run: () => ({
          content: [text("A goblin:"), { type: "image", data: GOBLIN_PNG, mimeType: "image/png" }],
        }),
      },
      {
        definition: {
          name: "fail",
          description: "Always fails with an error result; the server itself stays healthy",
          inputSchema: { type: "object", properties: { reason: { type: "string" } } },
        },
        run: (args) => {
          throw new ToolFailure(args.reason ? stringArgument(args, "reason") : "The experiment exploded");
        },
      },
      {
        definition: {
          name: "greet",
          description: "Asks the user for a name and says hello",
          inputSchema: { type: "object" },
        },
        run: async (_args, turn) => {
          if (!turn.clientCapabilities.elicitation) {
            return { content: [text("Hello, stranger. Your client cannot ask you for your name.")] };
          }
          const { action, content } = await turn.ask("elicitation/create", {
            message: "What is your name?",
            requestedSchema: {
              type: "object",
              properties: { name: { type: "string", title: "Name", description: "What goblins may call you" } },
              required: ["name"],
            },
          });
          const given = typeof content === "object" && content !== null && !Array.isArray(content) ? content : {};
          return { content: [text(action === "accept" ? `Hello, ${given.name}.` : "Hello, stranger.")] };
        },
      },
    ],
  };
}
