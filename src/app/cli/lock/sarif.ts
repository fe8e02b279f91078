/**
 * The state of the lock as SARIF 2.1.0, for code scanning: one result for each difference, at the
 * line of its server in the lock file.
 */
import { basename } from "node:path";
import type { DriftRow, LockState } from "../../../admin/api/lock/schema.ts";
import { version } from "../../../lib/package/version.ts";

const levels: Readonly<Record<DriftRow["class"], "note" | "warning" | "error">> = {
  cosmetic: "note",
  wording: "warning",
  narrowing: "warning",
  widening: "error",
  suspicious: "error",
};

const rules: Readonly<Record<string, string>> = {
  cosmetic: "Something that only people see was changed",
  wording: "A text that models read was changed",
  narrowing: "Less is possible than was approved",
  widening: "More is possible than was approved",
  suspicious: "The scanner found an attack",
  "lock-file": "The lock file cannot be used",
  "not-listed": "The server could not be compared",
  gone: "The server is no longer in the config",
};

interface Result {
  readonly rule: keyof typeof rules;
  readonly level: "note" | "warning" | "error";
  readonly text: string;
  readonly line: number;
}

export function sarifOf({ file, problems, servers }: LockState) {
  const results: Result[] = [
    ...problems.map(({ line, message }) => ({ rule: "lock-file", level: "error" as const, text: message, line })),
    ...servers.flatMap(({ id, line, state, drifts }): Result[] => {
      const at = line ?? 1;
      if (state === "unknown") {
        return [{ rule: "not-listed", level: "error", text: `${id}: it has not been listed`, line: at }];
      }
      if (state === "gone")
        return [{ rule: "gone", level: "warning", text: `${id}: it is not in the config`, line: at }];
      return drifts.map((drift) => ({
        rule: drift.class,
        level: levels[drift.class],
        text: `${id}: ${drift.kind} ${drift.name} ${drift.change}: ${drift.changes.map(({ what }) => what).join("; ")}`,
        line: at,
      }));
    }),
  ];
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "goblin lock",
            version,
            rules: Object.entries(rules).map(([id, text]) => ({ id, shortDescription: { text } })),
          },
        },
        results: results.map(({ rule, level, text, line }) => ({
          ruleId: rule,
          level,
          message: { text },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: basename(file) },
                region: { startLine: Math.max(1, line) },
              },
            },
          ],
        })),
      },
    ],
  };
}
