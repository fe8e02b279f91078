/**
 * Gives Goblin's own metrics a second name in Prometheus' usual spelling: `mcp_requests_total` with
 * `server_id` beside `mcpRequestsTotal` with `serverId`. Other families have one name.
 */
export const metricNames = ["camelCase", "snake_case"] as const;
export type MetricNames = (typeof metricNames)[number];

const OWN = /^(# (?:HELP|TYPE) )?(mcp[A-Z]\w*?)(_bucket|_sum|_count)?(?=[{ ])/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Names of the semantic conventions, which have one spelling. */
const CONVENTIONAL = /^(?:# (?:HELP|TYPE) )?mcp_/;

/** `names`: the spelling to keep; undefined keeps both. */
export function withNames(page: string, names: MetricNames | undefined): string {
  if (names === "camelCase") {
    const lines = page.split("\n");
    return lines.filter((line) => !CONVENTIONAL.test(line)).join("\n");
  }
  const lines = page.split("\n");
  const renamed = lines.filter((line) => OWN.test(line)).map(snakeCased);
  const kept = names === undefined ? lines : lines.filter((line) => !OWN.test(line));
  // The page ends in a line feed.
  return [...renamed, ...kept].join("\n");
}

function snakeCased(line: string): string {
  const [head, comment = "", name = "", suffix = ""] = OWN.exec(line)!;
  const rest = line.slice(head.length);
  const start = comment + snake(name) + suffix;
  if (comment !== "" || !rest.startsWith("{")) return start + rest;
  const end = rest.lastIndexOf("}");
  const labels = rest.slice(0, end).replace(LABEL, (_, label: string, value: string) => `${snake(label)}="${value}"`);
  return start + labels + rest.slice(end);
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
