/**
 * Substitutes variables in the config's strings: `${env:NAME}`, `${env:NAME:-default}`,
 * `${input:id}`, the predefined ones of VS Code and Cursor, Windsurf's `${file:path}`, and Claude
 * Code's `${NAME}` and `${NAME:-default}`. `$${` is a literal `${`.
 *
 * A missing variable is a problem that names it, never an empty string. All other text stays
 * unchanged, including `$NAME` and a shell's `${NAME%x}`. Values are not substituted again.
 */
import { basename, join, resolve as resolvePath, sep } from "node:path";

export interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The base folder for relative paths. */
  readonly folder: string;
  readonly home: string;
  /** Reads the file of a `${file:path}`; throws if it cannot. */
  readonly readFile?: ((path: string) => string) | undefined;
}

export interface Substitution {
  readonly text: string;
  readonly problems: readonly SubstitutionProblem[];
}

export interface SubstitutionProblem {
  readonly message: string;
  /** The text may be meant as it is. */
  readonly isWarning?: boolean;
  readonly hint?: string;
}

const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const PLAIN_NAME = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;

/**
 * Substitutes the variables in a text. With `shell: true` (a program's arguments) an unset
 * `${NAME}` is left for the shell, which is worth no more than a warning.
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

/** Expands `~` and `~/…` to the home folder; `~name` is another user's and stays. */
export function expandHome(text: string, home: string): string {
  if (text === "~") return home;
  return text.startsWith("~/") || text.startsWith("~\\") ? join(home, text.slice(2)) : text;
}

function unclosed(inner: string): SubstitutionProblem | undefined {
  return /^(env|input):/.test(inner)
    ? { message: 'a "${" without its "}"', hint: 'write "$${" for the text "${"' }
    : undefined;
}

/** Returns the value or the problem; undefined if the text is not a reference. */
function resolve(inner: string, variables: Variables, shell: boolean): string | SubstitutionProblem | undefined {
  const predefined = predefinedVariable(inner, variables);
  if (predefined !== undefined) return predefined;
  if (inner.startsWith("env:")) return environmentVariable(inner.slice(4), variables.env);
  if (inner.startsWith("input:")) return inputVariable(inner.slice(6), variables.env);
  if (inner.startsWith("file:")) return fileContent(inner.slice(5), variables);
  if (/^(command|config):/.test(inner)) {
    return { message: `\${${inner.slice(0, inner.indexOf(":"))}:…} is not supported`, hint: "use ${env:NAME}" };
  }
  const plain = PLAIN_NAME.exec(inner);
  if (plain === null) return undefined;
  const value = environmentVariable(inner, variables.env);
  if (typeof value === "string" || !shell) return value;
  return {
    message: `${value.message}, so \${${inner}} stays as written`,
    hint: `set it, or write "$\${${inner}}" if it is meant for the program`,
    isWarning: true,
  };
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

/** Returns the text of a file without its last line break, as secrets are kept in files. */
function fileContent(path: string, { folder, home, readFile }: Variables): string | SubstitutionProblem {
  try {
    if (readFile === undefined || path === "") throw new Error("no file");
    return readFile(resolvePath(folder, expandHome(path, home))).replace(/\r?\n$/, "");
  } catch {
    return { message: "the file of ${file:…} cannot be read" };
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
