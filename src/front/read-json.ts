/**
 * Reads the JSON body of a POST, or replies with what is wrong with it: the content type, the size, the text.
 * A client that goes away in the middle gets nothing and harms nobody.
 */
import { GoblinError } from "../model/errors.ts";
import { bodyTooLarge } from "../model/limit-exceeded.ts";
import type { Core } from "./core.ts";
import type { HttpExchange } from "./exchange.ts";
import { replyError } from "./reply.ts";

export interface JsonBody {
  readonly value: unknown;
  readonly text: string;
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;

export async function readJson(
  x: HttpExchange,
  { limits, exceeded }: Pick<Core, "limits" | "exceeded">,
): Promise<JsonBody | undefined> {
  if (!JSON_TYPE.test(x.header("content-type") ?? "")) {
    replyError(x, 415, new GoblinError("INVALID_REQUEST", "Content-Type must be application/json"));
    return undefined;
  }
  const { bodyBytes } = limits;
  const bytes = await x.body(bodyBytes).catch(() => null);
  if (bytes === null) return undefined;
  if (!bytes) {
    exceeded("bodyBytes");
    replyError(x, 413, bodyTooLarge(bodyBytes));
    return undefined;
  }
  const text = bytes.toString("utf8");
  try {
    return { value: JSON.parse(text), text };
  } catch {
    replyError(x, 400, new GoblinError("PARSE_ERROR", "Parse error: the body is not valid JSON"));
    return undefined;
  }
}
