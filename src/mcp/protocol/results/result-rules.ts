/**
 * What becomes of a tool's results, as the config says it for the gateway, a server or one tool.
 * The values of the nearest one count, key by key.
 */
export interface ResultRules {
  /** What becomes of a result that is longer than `maxTokens`. */
  readonly over: "pass" | "spill" | "cut" | "error";
  readonly maxTokens: number;
  /** The tokens of a kept result that are shown. */
  readonly preview: number;
  /** Patterns of the fields that are kept; all, if there is none. */
  readonly pick: readonly string[];
  /** Patterns of the fields that are left out. */
  readonly drop: readonly string[];
  /** Whether JSON is written without spaces. */
  readonly compact: boolean;
  /** Whether text is left out that says what the structured content says. */
  readonly dedupe: boolean;
}

/** Whether these rules change nothing, ever. */
export function isPlain({ over, pick, drop, compact, dedupe }: ResultRules): boolean {
  return over === "pass" && pick.length + drop.length === 0 && !compact && !dedupe;
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
  const { over, maxTokens, pick, drop, compact, dedupe } = rules;
  const parts = [
    ...(drop.length > 0 ? [`without ${drop.join(", ")}`] : []),
    ...(pick.length > 0 ? [`only ${pick.join(", ")}`] : []),
    ...(compact ? ["JSON without spaces"] : []),
    ...(dedupe ? ["no text that repeats the structured content"] : []),
    ...(over === "pass" ? [] : [`over ${maxTokens} tokens: ${fates[over]}`]),
  ];
  return parts.join("; ");
}
