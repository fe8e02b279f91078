/**
 * Variables in the config's strings: `${env:NAME}`, `${env:NAME:-default}`, `${input:id}` and the
 * few predefined ones of VS Code and Cursor; `${NAME}` and `${NAME:-default}` as Claude Code writes
 * them; `$${` for a literal `${`.
 *
 * A missing variable is a problem that names it, never an empty string. Everything else, `$NAME`
 * and a shell's
 * `${NAME%x}` among it, stays as it is. A value is substituted once: what comes out of a variable
 * is not read again.
 */
import { basename, join, sep } from "node:path";

export interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that relative paths start from. */
  readonly folder: string;
  readonly home: string;
}

export interface Substitution {
  readonly text: string;
  readonly problems: readonly SubstitutionProblem[];
}

export interface SubstitutionProblem {
  readonly message: string;
  readonly hint?: string;
}

const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const PLAIN_NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/**
 * `shell: true` is for text that a shell may read (a program's arguments): there a `${NAME}` that
 * is not set is left to the shell instead of being a problem.
 */
export function substitute(text: string, variables: Variables, options: { shell?: boolean } = {}): Substitution {
  if (!text.includes("${")) return { text, problems: [] };
  const problems: SubstitutionProblem[] = [];
  const result = text.replace(REFERENCE, (whole, inner: string | undefined, end: string | undefined) => {
    if (inner === undefined) return "${";
    const resolved = end === "" ? unclosed(inner) : resolve(inner, variables, options.shell === true);
    if (typeof resolved === "string") return resolved;
    if (resolved !== undefined) problems.push(resolved);
    return whole;
  });
  return { text: result, problems };
}

/** `~` and `~/…` are the home folder; `~name` is somebody else's and stays. */
export function expandHome(text: string, home: string): string {
  if (text === "~") return home;
  return text.startsWith("~/") || text.startsWith("~\\") ? join(home, text.slice(2)) : text;
}

function unclosed(inner: string): SubstitutionProblem | undefined {
  return /^(env|input):/.test(inner)
    ? { message: 'a "${" without its "}"', hint: 'write "$${" for the text "${"' }
    : undefined;
}

/** The value, or what is wrong, or nothing if it is not a reference at all. */
function resolve(inner: string, variables: Variables, shell: boolean): string | SubstitutionProblem | undefined {
  const predefined = predefinedVariable(inner, variables);
  if (predefined !== undefined) return predefined;
  if (inner.startsWith("env:")) return environmentVariable(inner.slice(4), variables.env);
  if (inner.startsWith("input:")) return inputVariable(inner.slice(6), variables.env);
  if (/^(command|config|file):/.test(inner)) {
    return { message: `\${${inner.slice(0, inner.indexOf(":"))}:…} is not supported`, hint: "use ${env:NAME}" };
  }
  const plain = PLAIN_NAME.exec(inner);
  if (plain === null) return undefined;
  const value = environmentVariable(inner, variables.env);
  return typeof value !== "string" && shell ? undefined : value;
}

function predefinedVariable(name: string, { folder, home }: Variables): string | undefined {
  switch (name) {
    case "workspaceFolder":
      return folder;
    case "workspaceFolderBasename":
      return basename(folder);
    case "userHome":
      return home;
    case "pathSeparator":
    case "/":
      return sep;
    default:
      return undefined;
  }
}

function environmentVariable(reference: string, env: Variables["env"]): string | SubstitutionProblem {
  const split = reference.indexOf(":-");
  const name = split === -1 ? reference : reference.slice(0, split);
  if (name === "") return { message: "${env:} names no variable" };
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (split !== -1) return value === undefined || value === "" ? reference.slice(split + 2) : value;
  if (value !== undefined) return value;
  return {
    message: `the environment variable ${name} is not set`,
    hint: `set it, or give a default: \${env:${name}:-…}`,
  };
}

function inputVariable(id: string, env: Variables["env"]): string | SubstitutionProblem {
  const name = id.toUpperCase().replace(/[^A-Z0-9_]/g, "_");
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined) return value;
  return {
    message: `\${input:${id}} needs the environment variable ${name}, which is not set`,
    hint: "Goblin cannot ask for inputs as VS Code does; it reads them from the environment",
  };
}
