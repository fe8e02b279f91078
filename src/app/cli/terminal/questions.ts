/**
 * Asks the user a server's form on the terminal, field by field. End of input (ctrl-d) cancels it.
 * Without a terminal it is cancelled at once, and stderr names the question.
 *
 * Invariant: a form is answered once, with values that fit its schema. The server's text is only
 * displayed.
 */

import { createInterface, type Interface } from "node:readline/promises";
import { isRecord } from "../../../lib/structures/record.ts";
import { clean, cleanLines } from "../../../lib/text/clean.ts";
import {
  enumOf,
  type JsonSchema,
  propertiesOf,
  requiredOf,
  resolveSchema,
  typeName,
  typeOf,
} from "../../../mcp/protocol/schema-shape.ts";
import { convertText, type Word } from "../arguments.ts";
import type { Fields } from "../gateway/mcp-client.ts";
import { UsageError } from "../usage-error.ts";
import { painter } from "./paint.ts";

export interface AnswerOptions {
  /** The name of the tool that asks. */
  readonly asker: string;
  /** Aborts when the server no longer waits for the answer. */
  readonly signal: AbortSignal;
}

const CANCEL = { action: "cancel" } as const;

export async function answerForm(params: Fields, { asker, signal }: AnswerOptions): Promise<Fields> {
  if (signal.aborted) return CANCEL;
  const message = String(params["message"] ?? "");
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    console.error(clean(`${asker} asks "${message}"; there is no terminal to answer on, so the question is cancelled`));
    return CANCEL;
  }
  const paint = painter(process.stderr);
  console.error(paint("bold", cleanLines(`${asker} asks: ${message}`).join("\n")));
  console.error(paint("dim", "(ctrl-d: cancel)"));
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // The terminal is in raw mode while a line is read, so ctrl-c must be forwarded.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const ended = new AbortController();
  lines.once("close", () => ended.abort());
  try {
    return await fillIn(params["requestedSchema"], lines, AbortSignal.any([signal, ended.signal]));
  } catch (error) {
    if (!signal.aborted && !ended.signal.aborted) throw error;
    console.error("");
    return CANCEL;
  } finally {
    lines.close();
  }
}

async function fillIn(requested: unknown, lines: Interface, signal: AbortSignal): Promise<Fields> {
  const root: JsonSchema = isRecord(requested) ? requested : {};
  const fields = propertiesOf(root);
  const required = requiredOf(root);
  const ask = (text: string): Promise<string> => lines.question(text, { signal });
  if (fields.length === 0) {
    const answer = (await ask("Accept? [y/N] ")).trim();
    return /^y(es)?$/i.test(answer) ? { action: "accept", content: {} } : { action: "decline" };
  }
  const content: Record<string, unknown> = {};
  for (const [name, value] of fields) {
    const schema = resolveSchema(value, root);
    const answer = await askField({ name, schema, root, required: required.has(name) }, ask);
    if (answer !== undefined) content[name] = answer;
  }
  return { action: "accept", content };
}

interface Field {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly root: JsonSchema;
  readonly required: boolean;
}

/** Asks until the answer fits; returns undefined for an optional field that was left empty. */
async function askField(field: Field, ask: (text: string) => Promise<string>): Promise<unknown> {
  const { name, schema, required } = field;
  for (;;) {
    const text = (await ask(questionOf(field))).trim();
    if (text === "" && schema["default"] !== undefined) return schema["default"];
    if (text === "" && !required) return undefined;
    try {
      if (text !== "" || typeOf(schema) !== "string") return convertField(field, text);
      console.error(clean(`  ${name} is required`));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      console.error(clean(`  ${error.message}`));
    }
  }
}

function questionOf({ name, schema, root, required }: Field): string {
  const { title, description } = schema;
  const label = typeof title === "string" ? title : name;
  const about = typeof description === "string" ? ` (${description})` : "";
  const choices = choicesOf(schema) ?? choicesOf(resolveSchema(schema["items"], root));
  const type = choices?.join(" | ") ?? (typeOf(schema) === "boolean" ? "y/n" : typeName(schema, root));
  const hint =
    schema["default"] === undefined ? (required ? "" : ", optional") : `, ${JSON.stringify(schema["default"])}`;
  return clean(`${label}${about} <${type}${hint}>: `);
}

function convertField({ name, schema, root }: Field, text: string): unknown {
  if (typeOf(schema) === "boolean" && /^(y(es)?|no?)$/i.test(text)) return /^y/i.test(text);
  if (typeOf(schema) === "array") {
    const items = resolveSchema(schema["items"], root);
    return text.split(",").map((word) => choose({ key: name, text: word.trim(), root }, items));
  }
  return choose({ key: name, text, root }, schema);
}

function choose(word: Word, schema: JsonSchema): unknown {
  const { key, text } = word;
  const titled = titledChoices(schema);
  if (titled === undefined) return convertText(word, schema);
  const found = titled.find(({ value, title }) => value === text || title.toLowerCase() === text.toLowerCase());
  if (found === undefined) {
    throw new UsageError(`${key}: expected ${titled.map(({ title }) => title).join(" or ")}`);
  }
  return found.value;
}

function choicesOf(schema: JsonSchema): string[] | undefined {
  return titledChoices(schema)?.map(({ title }) => title) ?? enumOf(schema)?.map(String);
}

/** Reads `oneOf` or `anyOf` constants with titles, or an `enum` with `enumNames`. */
function titledChoices(schema: JsonSchema): { value: unknown; title: string }[] | undefined {
  const branches = schema["oneOf"] ?? schema["anyOf"];
  if (Array.isArray(branches) && branches.length > 0 && branches.every((one) => isRecord(one) && "const" in one)) {
    return branches.map((one: JsonSchema) => ({ value: one["const"], title: String(one["title"] ?? one["const"]) }));
  }
  const { enumNames } = schema;
  const values = enumOf(schema);
  if (values === undefined || !Array.isArray(enumNames)) return undefined;
  return values.map((value, i) => ({ value, title: String(enumNames[i] ?? value) }));
}
