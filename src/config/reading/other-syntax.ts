/**
 * Detects configs in TOML or YAML, so that the error names the format instead of the first
 * unexpected character. Call it only for a text that is not JSON.
 */
export function otherSyntax(text: string, file: string): "TOML" | "YAML" | undefined {
  if (/\.toml$/i.test(file)) return "TOML";
  if (/\.ya?ml$/i.test(file)) return "YAML";
  const first = text
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .find((line) => line.trim() !== "" && !line.trimStart().startsWith("#"));
  if (first === undefined) return undefined;
  if (/^\[\[?[\w."'-]+\]?\]$|^[\w."'-]+\s*=\s*\S/.test(first)) return "TOML";
  return /^---$|^- \S|^[\w.-]+:(\s|$)/.test(first) ? "YAML" : undefined;
}
