/**
 * Substitutes variables in the config's strings: `${env:NAME}`, `${env:NAME:-default}`,
 * `${input:id}`, the predefined ones of VS Code and Cursor, Windsurf's `${file:path}`, and Claude
 * Code's `${NAME}` and `${NAME:-default}`. `$${` is a literal `${`. Where secrets may stand, what
 * `config/secret-reference.ts` knows stays a reference.
 *
 * A missing variable is a problem that names it, never an empty string. All other text stays
 * unchanged, including `$NAME` and a shell's `${NAME%x}`. Values are not substituted again.
 */
import { basename, join, sep } from "node:path";
import { type ReferenceContext, readReference, type SecretReference, type TextPart } from "../secret-reference.ts";

export interface Variables extends ReferenceContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads the file of a `${file:path}`; throws if it cannot. */
  readonly readFile?: ((path: string) => string) | undefined;
}

export interface Substitution {
  /** With references as they are written. */
  readonly text: string;
  /** The same in parts, if it has references. */
  readonly parts?: readonly TextPart[];
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

export interface SubstituteOptions {
  /** A program's arguments: an unset `${NAME}` is left for the shell, which is worth a warning. */
  readonly shell?: boolean;
  /** A text of a connection: secrets stay references until the server starts. */
  readonly keepsReferences?: boolean;
}

/** Substitutes the variables in a text. */
export function substitute(text: string, variables: Variables, options: SubstituteOptions = {}): Substitution {
  if (!text.includes("${")) return { text, problems: [] };
  const problems: SubstitutionProblem[] = [];
  const parts: TextPart[] = [];
  let [shown, literal, end] = ["", "", 0];
  for (const match of text.matchAll(REFERENCE)) {
    const [whole, inner, brace] = match;
    const found =
      inner === undefined ? "${" : brace === "" ? unclosed(inner) : resolve(inner, { ...variables, ...options });
    const before = text.slice(end, match.index);
    end = match.index + whole.length;
    if (isReference(found)) {
      parts.push(literal + before, found);
      [shown, literal] = [shown + before + whole, ""];
      continue;
    }
    if (typeof found === "object") problems.push(found);
    const value = before + (typeof found === "string" ? found : whole);
    [shown, literal] = [shown + value, literal + value];
  }
  const rest = text.slice(end);
  const all = [...parts, literal + rest].filter((part) => part !== "");
  return { text: shown + rest, problems, ...(parts.length > 0 && { parts: all }) };
}

function isReference(found: Found): found is SecretReference {
  return typeof found === "object" && "source" in found;
}

/** Expands `~` and `~/…` to the home folder; `~name` is another user's and stays. */
export function expandHome(text: string, home: string): string {
  if (text === "~") return home;
  return text.startsWith("~/") || text.startsWith("~\\") ? join(home, text.slice(2)) : text;
}

function unclosed(inner: string): SubstitutionProblem | undefined {
  return /^(env|input|keychain|cmd|op):/.test(inner)
    ? { message: 'a "${" without its "}"', hint: 'write "$${" for the text "${"' }
    : undefined;
}

type Found = string | SecretReference | SubstitutionProblem | undefined;

/** Returns undefined if the text is not a reference. */
function resolve(inner: string, variables: Variables & SubstituteOptions): Found {
  const predefined = predefinedVariable(inner, variables);
  if (predefined !== undefined) return predefined;
  if (inner.startsWith("env:")) return environmentVariable(inner.slice(4), variables.env);
  const input = inner.startsWith("input:") ? inputVariable(inner.slice(6), variables.env) : undefined;
  if (input !== undefined) return input;
  const reference = readReference(inner, variables, (path) => expandHome(path, variables.home));
  if (reference !== undefined) return keepsOrReads(reference, inner, variables);
  if (/^(command|config):/.test(inner)) {
    return { message: `\${${inner.slice(0, inner.indexOf(":"))}:…} is not supported`, hint: "use ${env:NAME}" };
  }
  const plain = PLAIN_NAME.exec(inner);
  if (plain === null) return unknownSource(inner);
  const value = environmentVariable(inner, variables.env);
  if (typeof value === "string" || !variables.shell) return value;
  return {
    message: `${value.message}, so \${${inner}} stays as written`,
    hint: `set it, or write "$\${${inner}}" if it is meant for the program`,
    isWarning: true,
  };
}

/** A shell's `${NAME:+x}` and `${NAME:0:3}` are not meant for Goblin; a mistyped source is. */
function unknownSource(inner: string): SubstitutionProblem | undefined {
  const [, source] = /^([a-z][a-z-]*):[^-+=?\d\s]/.exec(inner) ?? [];
  if (source === undefined) return undefined;
  return {
    message: `\${${source}:…} is nothing that Goblin looks up, so it stays as written`,
    hint: 'it knows env, keychain, file, cmd, input and op://; write "$${" for the text "${"',
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

function keepsOrReads(
  reference: SecretReference | SubstitutionProblem,
  inner: string,
  { keepsReferences, readFile }: Variables & SubstituteOptions,
): Found {
  if (!("source" in reference)) return reference;
  if (reference.source === "file") {
    const text = fileContent(reference.path, readFile);
    return typeof text === "string" && keepsReferences ? reference : text;
  }
  if (keepsReferences) return reference;
  const kind = inner.startsWith("op:") ? "op://" : inner.slice(0, inner.indexOf(":") + 1);
  return {
    message: `\${${kind}…} is looked up when a server starts, so it may only stand in args, env, url, headers and the secrets of auth of a server`,
    hint: "use ${env:NAME} or ${file:path} here",
  };
}

/** Returns the text of a file without its last line break, as secrets are kept in files. */
function fileContent(path: string, readFile: Variables["readFile"]): string | SubstitutionProblem {
  try {
    if (readFile === undefined) throw new Error("no file");
    return readFile(path).replace(/\r?\n$/, "");
  } catch {
    return { message: `the file ${path} of \${file:…} cannot be read` };
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

/** The environment may have the answer to an input. */
function inputVariable(id: string, env: Variables["env"]): string | undefined {
  const name = id.toUpperCase().replace(/[^A-Z0-9_]/g, "_");
  return Object.hasOwn(env, name) ? env[name] : undefined;
}
