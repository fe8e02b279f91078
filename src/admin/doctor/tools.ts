/** Examines tools: names and numbers that clients do not take, schemas that APIs refuse. */
import { knownClients } from "../../auth/access/client-kinds.ts";
import { type Finding, few } from "./finding.ts";
import { type LintedTool, lintTool, type SchemaProblem, schemaProblems } from "./schema-lint.ts";

export interface ListedTool extends LintedTool {
  /** As clients see it. */
  readonly name: string;
}

/** What model APIs take as a tool's name. */
const API_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** Claude Code calls a tool `mcp__goblin__<name>`, and drops longer ones. */
const CLAUDE_CODE = { prefix: "mcp__goblin__", most: 128 };

export function examineTools(where: string, tools: readonly ListedTool[]): Finding[] {
  return [...nameFindings(where, tools), ...schemaFindings(where, tools)];
}

function* nameFindings(where: string, tools: readonly ListedTool[]): Generator<Finding> {
  const remedy = `shorten them: "prefix" of the server, or "tools.overrides" with an "alias"`;
  const names = tools.map(({ name }) => name);
  const refused = names.filter((name) => !API_NAME.test(name));
  if (refused.length > 0) {
    const what = `model APIs take names of at most 64 letters, digits, _ and -; not ${few(refused)}`;
    yield { level: "warning", code: "name_refused", where, what, remedy };
  }
  const caps = Object.entries(knownClients).flatMap(([client, { maxNameLength }]) =>
    maxNameLength === undefined ? [] : { client, most: maxNameLength },
  );
  for (const { client, most } of [...caps, { client: "claude-code", most: mostForClaudeCode }]) {
    const long = names.filter((name) => name.length > most && API_NAME.test(name));
    if (long.length === 0) continue;
    yield {
      level: "warning",
      code: "name_too_long",
      where,
      remedy,
      what: `${client} takes names of at most ${most} characters; longer are ${few(long)}`,
    };
  }
}

const mostForClaudeCode = CLAUDE_CODE.most - CLAUDE_CODE.prefix.length;

function* schemaFindings(where: string, tools: readonly ListedTool[]): Generator<Finding> {
  const byProblem = new Map<SchemaProblem, string[]>();
  for (const tool of tools) {
    for (const problem of lintTool(tool)) byProblem.set(problem, [...(byProblem.get(problem) ?? []), tool.name]);
  }
  for (const problem of Object.keys(schemaProblems) as SchemaProblem[]) {
    const names = byProblem.get(problem);
    if (!names) continue;
    yield {
      level: "warning",
      code: `schema_${problem}`,
      where,
      what: `${few(names)}: ${schemaProblems[problem]}`,
      remedy: `tell the server's author, or hide ${names.length === 1 ? "the tool" : "the tools"} with "tools.deny"`,
    };
  }
}

/** Clients that do not take all tools of a gateway; it lists search tools to them, if it may. */
export function examineNumber(where: string, count: number, exposure: string): Finding[] {
  const capped = Object.entries(knownClients).filter(([, { maxTools }]) => maxTools !== undefined && maxTools < count);
  if (capped.length === 0 || exposure === "search") return [];
  const clients = few(capped.map(([client, { maxTools }]) => `${client} ${maxTools}`));
  const what = `${count} tools are more than some clients take (${clients})`;
  if (exposure === "auto") {
    return [{ level: "ok", code: "many_tools", where, what: `${what}: they get a shorter list with a search` }];
  }
  const remedy = 'set "tools.expose" to "auto": these clients get a shorter list with a search';
  return [{ level: "warning", code: "many_tools", where, what, remedy }];
}
