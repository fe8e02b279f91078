/**
 * What becomes of a tool's results, as the config says it for the gateway or for one tool.
 */
export interface ResultRules {
  /** What becomes of a result that is longer than `maxTokens`. */
  readonly over: "pass" | "spill" | "cut" | "error";
  readonly maxTokens: number;
  /** Patterns of the fields that are kept; all, if there is none. */
  readonly pick: readonly string[];
  /** Patterns of the fields that are left out. */
  readonly drop: readonly string[];
}

/** Whether these rules change nothing, ever. */
export function isPlain({ over, pick, drop }: ResultRules): boolean {
  return over === "pass" && pick.length + drop.length === 0;
}

/** Whether results may not fit the tool's output schema any more. */
export function breaksSchema({ over, pick, drop }: ResultRules): boolean {
  return over !== "pass" || pick.length + drop.length > 0;
}

const fates: Readonly<Record<ResultRules["over"], string>> = {
  pass: "passed on",
  spill: "kept, and a preview and a link are sent",
  cut: "cut",
  error: "replaced by an error",
};

/** What becomes of results, in words. */
export function describeRules(rules: ResultRules | undefined): string {
  if (!rules) return "passed on as they are";
  const { over, maxTokens, pick, drop } = rules;
  const parts = [
    ...(drop.length > 0 ? [`without ${drop.join(", ")}`] : []),
    ...(pick.length > 0 ? [`only ${pick.join(", ")}`] : []),
    ...(over === "pass" ? [] : [`over ${maxTokens} tokens: ${fates[over]}`]),
  ];
  return parts.join("; ");
}
