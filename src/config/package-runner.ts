/**
 * Tells whether a command may install a package before the server runs: npx, uvx, docker run and
 * the like, also behind `cmd /c`, `env` or `sh -c`.
 *
 * Such a program is silent for minutes at its first start, and must not be ended meanwhile: what it
 * has half written may stay broken.
 */

export interface PackageRunner {
  /** As the user knows it: `npx`, `docker run`. */
  readonly name: string;
  /** The package or image, as written; undefined if it is not certain. */
  readonly package: string | undefined;
}

/** The subcommands that install; undefined: the program always does. */
const RUNNERS: Readonly<Record<string, readonly string[] | undefined>> = {
  npx: undefined,
  uvx: undefined,
  bunx: undefined,
  pnpx: undefined,
  npm: ["exec", "x"],
  pnpm: ["dlx"],
  yarn: ["dlx"],
  bun: ["x"],
  uv: ["run", "tool"],
  pipx: ["run"],
  docker: ["run"],
  podman: ["run"],
  deno: ["run"],
};

const ENDING = /\.(?:cmd|exe|bat|ps1|js)$/i;
const SHELLS = new Set(["sh", "bash", "zsh", "dash", "cmd", "powershell", "pwsh"]);

export function packageRunnerOf(command: string, args: readonly string[]): PackageRunner | undefined {
  const program = baseName(command);
  if (program === "env") return inEnv(args);
  if (SHELLS.has(program)) return inShell(program, args);
  if (!Object.hasOwn(RUNNERS, program)) return undefined;
  const subcommands = RUNNERS[program];
  if (subcommands === undefined) return { name: program, package: firstWord(args) };
  const at = args.findIndex((arg) => !arg.startsWith("-"));
  const subcommand = args[at];
  if (subcommand === undefined || !subcommands.includes(subcommand)) return undefined;
  return { name: `${program} ${subcommand}`, package: firstWord(args.slice(at + 1)) };
}

/** `env -i NAME=value npx …` */
function inEnv(args: readonly string[]): PackageRunner | undefined {
  const at = args.findIndex((arg) => !arg.startsWith("-") && !arg.includes("="));
  return at === -1 ? undefined : packageRunnerOf(args[at]!, args.slice(at + 1));
}

/** `cmd /d /s /c npx …`, `sh -c "exec npx …"` */
function inShell(shell: string, args: readonly string[]): PackageRunner | undefined {
  const at = args.findIndex((arg) => (shell === "cmd" ? /^\/[ck]$/i : /^-\w*c$|^-Command$/i).test(arg));
  if (at === -1) return undefined;
  const rest = args.slice(at + 1);
  const words = (shell === "cmd" ? rest.join(" ") : (rest[0] ?? "")).split(/\s+/).filter((word) => word !== "exec");
  const first = words.findIndex((word) => word !== "" && !/^\w+=/.test(word));
  if (first === -1) return undefined;
  const found = packageRunnerOf(words[first]!, words.slice(first + 1));
  return found && { name: found.name, package: undefined };
}

/** The first argument, if no option with a value can stand before it. */
function firstWord(args: readonly string[]): string | undefined {
  const at = args.findIndex((arg) => !/^(?:-y|--yes|-q|--quiet|-i|--rm|-it|-t)$/.test(arg));
  const word = args[at];
  return word === undefined || word.startsWith("-") ? undefined : word;
}

function baseName(command: string): string {
  const name = command.slice(Math.max(command.lastIndexOf("/"), command.lastIndexOf("\\")) + 1);
  return name.replace(ENDING, "").toLowerCase();
}
