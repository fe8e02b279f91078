/**
 * One part of a tool's result, by a path such as `items[0].name`. Pure.
 *
 * A path begins at what the tool returns: its structured content, else its text if that is JSON. A
 * path that begins with `$` begins at the whole result. `*` stands for every element or member.
 */
import { isRecord } from "../../../lib/structures/record.ts";
import { UsageError } from "../usage-error.ts";

type Fields = Readonly<Record<string, unknown>>;

const STEP = /\.?(\*|[^.[\]*"]+)|\[(\d+|\*)\]|\["((?:[^"\\]|\\.)*)"\]/gy;
const SHOWN = 12;

/** Returns what the path leads to: one value, or several if it has a `*`. @throws UsageError */
export function pick(result: Fields, path: string): unknown[] {
  const isWhole = /^\$(?=$|[.[])/.test(path);
  const steps = stepsOf(isWhole ? path.slice(1) : path, path);
  let found: unknown[] = [isWhole ? result : returnedBy(result)];
  let before = isWhole ? "$" : "";
  for (const step of steps) {
    const next = found.flatMap((value) => members(value, step));
    if (next.length === 0 && step !== "*") throw new UsageError(`the result has no ${path}: ${hint(found[0], before)}`);
    found = next;
    before += before === "" ? step : `.${step}`;
  }
  return found;
}

function stepsOf(path: string, whole: string): string[] {
  const steps: string[] = [];
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const found = STEP.exec(path);
    if (!found) throw new UsageError(`--pick ${whole}: expected a path such as items[0].name`);
    steps.push(found[1] ?? found[2] ?? (JSON.parse(`"${found[3]}"`) as string));
  }
  return steps;
}

function members(value: unknown, step: string): unknown[] {
  if (Array.isArray(value)) {
    if (step === "*") return value;
    return /^\d+$/.test(step) && Number(step) < value.length ? [value[Number(step)]] : [];
  }
  if (!isRecord(value)) return [];
  if (step === "*") return Object.values(value);
  return Object.hasOwn(value, step) ? [value[step]] : [];
}

/** What a program would work on. */
function returnedBy(result: Fields): unknown {
  if (result["structuredContent"] !== undefined) return result["structuredContent"];
  const content = Array.isArray(result["content"]) ? (result["content"] as Fields[]) : [];
  const texts = content.filter((block) => block["type"] === "text").map((block) => String(block["text"] ?? ""));
  if (texts.length !== 1) return result;
  try {
    return JSON.parse(texts[0]!);
  } catch {
    return result;
  }
}

function hint(value: unknown, at: string): string {
  const where = at === "" ? "it" : at;
  if (Array.isArray(value)) return `${where} is a list of ${value.length}`;
  if (!isRecord(value)) return `${where} is ${value === null ? "null" : `a ${typeof value}`}`;
  const keys = Object.keys(value);
  return `${where} has ${keys.slice(0, SHOWN).join(", ")}${keys.length > SHOWN ? ", …" : ""}`;
}
