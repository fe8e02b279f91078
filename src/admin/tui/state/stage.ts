/**
 * What a call made from the dashboard is about, and how far it is.
 *
 * Invariant: questions are answered in the order in which they were asked, one at a time.
 */

import { isRecord } from "../../../lib/structures/record.ts";
import type { LiveEvent } from "../../api/live/schema.ts";
import { type Fields, fieldsOf } from "../../forms/form.ts";
import type { Block } from "../content/blocks.ts";

export type Target =
  | { readonly kind: "tool"; readonly name: string; readonly destructive: boolean }
  | { readonly kind: "prompt"; readonly name: string }
  | { readonly kind: "resource"; readonly name: string }
  | { readonly kind: "template"; readonly name: string };

/** A document with folded parts; the cursor is a line of it. */
export interface Viewer {
  readonly blocks: readonly Block[];
  readonly folded: ReadonlySet<string>;
  readonly cursor: number;
}

export interface Question {
  readonly id: string;
  /** `other`: the dashboard can show it, but not answer. */
  readonly kind: "form" | "link" | "other";
  readonly message: string;
  readonly link: string | undefined;
  readonly form: Fields;
}

export interface Running {
  readonly name: "running";
  readonly since: number;
  readonly progress: Extract<LiveEvent, { type: "progress" }>["data"] | undefined;
  /** The newest log messages of the server. */
  readonly said: readonly string[];
  readonly questions: readonly Question[];
}

export interface Done {
  readonly name: "done";
  readonly failed: boolean;
  readonly ms: number;
  /** The result as text, for the clipboard. */
  readonly text: string;
  readonly viewer: Viewer;
  readonly said: readonly string[];
}

export type CallStage =
  | { readonly name: "edit"; readonly note?: string }
  | { readonly name: "confirm" }
  | Running
  | Done;

const mostSaid = 200;
/** Below a question: what sends the answer, and what declines. */
const buttons = 2;

export function running(since: number): Running {
  return { name: "running", since, progress: undefined, said: [], questions: [] };
}

/** Applies what arrives while the call is under way. */
export function applyLive(stage: Running, event: LiveEvent): Running {
  switch (event.type) {
    case "progress":
      return { ...stage, progress: event.data };
    case "log":
      return { ...stage, said: [...stage.said, logLine(event.data)].slice(-mostSaid) };
    case "question":
      return { ...stage, questions: [...stage.questions, questionOf(event.data)] };
    case "withdrawn":
      return {
        ...stage,
        questions: stage.questions.filter(({ id }) => id !== event.data.id),
        said: [...stage.said, "The server took its question back."],
      };
    case "started":
    case "result":
    case "error":
      return stage;
  }
}

function logLine({ level, logger, data }: { level: string; logger?: string | undefined; data?: unknown }): string {
  const said =
    typeof data === "string"
      ? data
      : isRecord(data) && typeof data["message"] === "string"
        ? data["message"]
        : JSON.stringify(data);
  return `${level}${logger === undefined ? "" : ` ${logger}`}: ${said}`;
}

function questionOf({ id, method, params }: { id: string; method: string; params: Record<string, unknown> }): Question {
  const message = typeof params["message"] === "string" ? params["message"] : "";
  const none: Fields = { fields: [], focus: 0, whole: false, buttons };
  if (method !== "elicitation/create")
    return { id, kind: "other", message: sampled(params), link: undefined, form: none };
  if (params["mode"] === "url") {
    return { id, kind: "link", message, link: String(params["url"] ?? ""), form: none };
  }
  const schema = isRecord(params["requestedSchema"]) ? params["requestedSchema"] : {};
  return { id, kind: "form", message, link: undefined, form: { ...fieldsOf(schema), buttons } };
}

/** The words of the conversation that a server wants a model to continue. */
function sampled(params: Record<string, unknown>): string {
  const messages = Array.isArray(params["messages"]) ? params["messages"] : [];
  const words = messages.map((one: unknown) => {
    const { role, content } = isRecord(one) ? one : {};
    const text = isRecord(content) && typeof content["text"] === "string" ? content["text"] : JSON.stringify(content);
    return `${String(role)}: ${text}`;
  });
  return words.join("\n");
}
