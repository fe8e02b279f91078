/**
 * Shell completion. `goblin completion <shell>` prints a script that asks `goblin complete --line
 * <line>` for matching words. The words come from the commands and, for tools, prompts and
 * resources, from the gateway that the line names. Completion never fails and has a short timeout:
 * on any problem it offers nothing.
 *
 * Invariant: a server's name for something stays one word of the command line. Bash inserts words
 * unquoted, so its script quotes them; zsh and fish quote by themselves. Names that look like an
 * option or contain invisible characters are never offered.
 */
import type { Command } from "commander";
import { adminRoutes } from "../../../admin/api/routes.ts";
import { strip } from "../../../lib/text/clean.ts";
import { withTimeout } from "../../../lib/timing/with-timeout.ts";
import { enumOf, propertiesOf, resolveSchema } from "../../../mcp/protocol/schema-shape.ts";
import { listKinds, shells } from "../choices.ts";
import { type Target, type TargetOptions, withTarget } from "../gateway/target.ts";
import { UsageError } from "../usage-error.ts";

const PATIENCE_MS = 5000;
/** The timeout with --config, which must start servers first. */
const CONFIG_PATIENCE_MS = 15_000;

const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: `_goblin() {
  local line="\${COMP_LINE:0:COMP_POINT}" word quoted head="" typed
  typed="\${line##*[[:space:]]}"
  # Bash cuts words at = and :, and wants back only what follows the last of them.
  case "\${COMP_WORDS[COMP_CWORD]}" in
    = | :) head="$typed" ;;
    *) head="\${typed%"\${COMP_WORDS[COMP_CWORD]}"}" ;;
  esac
  head="\${head//\\\\/}"
  COMPREPLY=()
  while IFS= read -r word; do
    word="\${word#"$head"}" quoted=""
    if [[ -n "$word" ]]; then printf -v quoted %q "$word"; fi
    COMPREPLY+=("$quoted")
  done < <(goblin complete --line "$line" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && "\${COMPREPLY[0]}" == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _goblin goblin
`,
  zsh: `#compdef goblin
_goblin() {
  emulate -L zsh
  local -a found keys others
  found=("\${(@f)$(goblin complete --line "\${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
  keys=("\${(@M)found:#*=}")
  others=("\${(@)found:#(*=|)}")
  (( $#keys )) && compadd -S '' -- "\${(@)keys}"
  (( $#others )) && compadd -- "\${(@)others}"
}
compdef _goblin goblin
`,
  fish: `complete -c goblin -f -a '(goblin complete --line (commandline -cp | string collect) 2>/dev/null)'
`,
};

export async function completion(shell: string): Promise<number> {
  const known = shells.find((name) => name === shell);
  if (known === undefined) throw new UsageError(`completion ${shell}: expected one of ${shells.join(", ")}`);
  process.stdout.write(scripts[known]);
  return 0;
}

/** Prints the words that may complete the line. */
export async function complete(line: string, program: Command): Promise<number> {
  const words = splitLine(line).slice(1);
  const typed = words.pop() ?? "";
  const found = await candidates(words, typed, program).catch(() => []);
  for (const word of found) if (word.startsWith(typed)) console.log(word);
  return 0;
}

/** Splits a line like a shell, but knows only backslashes; text in quotes is not completed. */
function splitLine(line: string): string[] {
  const words: string[] = line.match(/(?:\\.|[^\s\\])+/gs) ?? [];
  if (/(?<!\\)\s$/.test(line)) words.push("");
  return words.map((word) => word.replace(/\\(.)/gs, "$1"));
}

async function candidates(words: readonly string[], typed: string, program: Command): Promise<string[]> {
  const visible = program.createHelp().visibleCommands(program);
  const command = visible.find((one) => one.name() === words[0]);
  if (!command) return words.length === 0 ? visible.map((one) => one.name()) : [];
  if (typed.startsWith("-")) return command.options.flatMap(({ long }) => long ?? []);
  const { options, positional } = readWords(words.slice(1), command);
  switch (command.name()) {
    case "list":
      return positional.length === 0 ? [...listKinds] : [];
    case "completion":
      return positional.length === 0 ? [...shells] : [];
    case "call":
    case "prompt":
    case "read":
      return (await ask(options, (target) => offered(command.name(), positional, target))).filter(isOneWord);
    default:
      return [];
  }
}

function isOneWord(name: string): boolean {
  return name !== "" && !name.startsWith("-") && strip(name) === name;
}

/** Separates options and their values from positional words. */
function readWords(words: readonly string[], command: Command): { options: TargetOptions; positional: string[] } {
  const values: Record<string, string> = {};
  const positional: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const option = command.options.find(({ short, long }) => word === short || word === long);
    if (option && !option.isBoolean()) values[option.attributeName()] = words[++i] ?? "";
    else if (!word.startsWith("-")) positional.push(word);
  }
  const { url, token, config } = values;
  return { positional, options: { url, token, config } };
}

function ask(options: TargetOptions, use: (target: Target) => Promise<string[]>): Promise<string[]> {
  const patience = options.config === undefined ? PATIENCE_MS : CONFIG_PATIENCE_MS;
  return withTimeout(withTarget(options, use), patience, []);
}

async function offered(command: string, positional: readonly string[], target: Target): Promise<string[]> {
  const [name, ...given] = positional;
  const isGiven = (key: string): boolean => given.some((word) => word.startsWith(`${key}=`));
  if (command === "read") {
    return name === undefined ? (await target.request(adminRoutes.listResources)).items.map(({ uri }) => uri) : [];
  }
  if (command === "prompt") {
    const { items } = await target.request(adminRoutes.listPrompts);
    if (name === undefined) return items.map((prompt) => prompt.name);
    const prompt = items.find((one) => one.name === name);
    return (prompt?.arguments ?? []).flatMap((argument) => (isGiven(argument.name) ? [] : `${argument.name}=`));
  }
  const { items } = await target.request(adminRoutes.listTools);
  if (name === undefined) return items.map((tool) => tool.name);
  const schema = items.find((tool) => tool.name === name)?.inputSchema ?? {};
  return propertiesOf(schema).flatMap(([key, value]) => {
    if (isGiven(key)) return [];
    const property = resolveSchema(value, schema);
    const values = property["type"] === "boolean" ? [true, false] : enumOf(property);
    return [`${key}=`, ...(values ?? []).map((one) => `${key}=${String(one)}`)];
  });
}
