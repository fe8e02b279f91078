/** Compares JSON values by their content: the order of members does not count. Pure. */
import { isRecord } from "../../lib/structures/record.ts";

export interface Difference {
  /** Where, such as `content[0].text`. */
  readonly path: string;
  /** Undefined: it is not there. */
  readonly before: unknown;
  readonly after: unknown;
}

/** Returns the value's one spelling. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${members.join(",")}}`;
}

/** Returns at most `most` differences, in the order of the values. */
export function differences(before: unknown, after: unknown, most = 100): Difference[] {
  const found: Difference[] = [];
  const compare = (one: unknown, other: unknown, path: string): void => {
    if (found.length >= most) return;
    if (Array.isArray(one) && Array.isArray(other)) {
      for (let i = 0; i < Math.max(one.length, other.length); i++) compare(one[i], other[i], `${path}[${i}]`);
    } else if (isRecord(one) && isRecord(other)) {
      for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
        compare(own(one, key), own(other, key), path === "" ? key : `${path}.${key}`);
      }
    } else if (canonical(one) !== canonical(other) || (one === undefined) !== (other === undefined)) {
      found.push({ path, before: one, after: other });
    }
  };
  compare(before, after, "");
  return found;
}

function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Describes a difference on one line. */
export function describe({ path, before, after }: Difference): string {
  const shown = (value: unknown): string => {
    const text = value === undefined ? "nothing" : JSON.stringify(value);
    return text.length > 80 ? `${text.slice(0, 79)}…` : text;
  };
  return `${path || "the value"}: ${shown(before)} → ${shown(after)}`;
}
