/**
 * Tells the configs of programs that do not write JSON, so that whoever gives one to Goblin is told
 * what it is rather than which of its characters is unexpected. Only asked about a text that is no
 * JSON.
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
