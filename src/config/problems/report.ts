/**
 * Collects the findings while a config is read: errors, which reject it, and warnings, which do
 * not.
 *
 * One mistake is reported once: after the first error at a path, later errors at or below it are
 * dropped, because they only follow from it.
 */
import type { Node } from "jsonc-parser";
import { formatKey, type KeyPath, offsetOf, placeOf, writtenPath } from "./locate.ts";
import type { Problem } from "./problem.ts";

export interface FindingOptions {
  readonly hint?: string | undefined;
  /** Points at the value (default) or at the key. */
  readonly at?: "key" | "value";
  /** The exact position, for places that the path does not lead to. */
  readonly offset?: number;
  /** The error concerns the whole file, though its path is that of an entry. */
  readonly ofFile?: boolean;
}

export interface Report {
  readonly errors: readonly Problem[];
  readonly warnings: readonly Problem[];
  error(path: KeyPath, message: string, options?: FindingOptions): void;
  warn(path: KeyPath, message: string, options?: FindingOptions): void;
  /** Returns the errors at or below this path, except those that concern the whole file. */
  errorsAt(path: KeyPath): readonly Problem[];
  /** Drops later errors at or below this path. */
  settle(path: KeyPath): void;
}

export function createReport(file: string, text: string, root: Node | undefined): Report {
  const found = { errors: [] as Located[], warnings: [] as Located[] };
  const settled = new Set<string>();

  function locate(path: KeyPath, message: string, options: FindingOptions): Located {
    const offset = options.offset ?? offsetOf(root, path, options.at ?? "value");
    const { hint } = options;
    return {
      offset,
      path: options.ofFile ? [] : path,
      problem: {
        file,
        ...placeOf(text, offset),
        key: formatKey(writtenPath(root, path)),
        message,
        ...(hint === undefined ? {} : { hint }),
      },
    };
  }

  return {
    get errors() {
      return inFileOrder(found.errors);
    },
    get warnings() {
      return inFileOrder(found.warnings);
    },
    error(path, message, options = {}) {
      if (isSettled(path, settled)) return;
      found.errors.push(locate(path, message, options));
      if (path.length > 0) settled.add(JSON.stringify(path));
    },
    warn(path, message, options = {}) {
      found.warnings.push(locate(path, message, options));
    },
    errorsAt(path) {
      return inFileOrder(found.errors.filter((error) => path.every((step, i) => error.path[i] === step)));
    },
    settle(path) {
      settled.add(JSON.stringify(path));
    },
  };
}

interface Located {
  readonly path: KeyPath;
  readonly offset: number;
  readonly problem: Problem;
}

function isSettled(path: KeyPath, settled: ReadonlySet<string>): boolean {
  if (settled.size === 0) return false;
  for (let length = path.length; length > 0; length--) {
    if (settled.has(JSON.stringify(path.slice(0, length)))) return true;
  }
  return false;
}

function inFileOrder(found: readonly Located[]): Problem[] {
  return found.toSorted((a, b) => a.offset - b.offset).map(({ problem }) => problem);
}
