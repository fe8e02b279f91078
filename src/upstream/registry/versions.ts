/**
 * The newest version of a package on npm or PyPI, and the order of versions. The package clients'
 * own settings say which registry is asked.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { readBounded } from "../../lib/http-client/read-bounded.ts";
import { recordOf } from "../../lib/structures/record.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const PATIENCE_MS = 20_000;
/** The list of all versions of a package can have several megabytes. */
const MAX_BYTES = 64 * 1024 * 1024;
const SIMPLE_JSON = "application/vnd.pypi.simple.v1+json";

/** @throws Error that says why the version is not known */
export function newestVersion(kind: "npm" | "pypi", name: string, env: Environment): Promise<string> {
  return kind === "npm" ? newestOnNpm(name, env) : newestOnPypi(name, env);
}

async function newestOnNpm(name: string, env: Environment): Promise<string> {
  const named = env["npm_config_registry"] || env["NPM_CONFIG_REGISTRY"];
  const base = slashed(named || (await printed("npm", ["config", "get", "registry"], env)));
  const url = base + name.replace("/", "%2f");
  const accept = "application/vnd.npm.install-v1+json, application/json";
  const body = await fetchFrom(url, { name, accept });
  const latest = recordOf(recordOf(JSON.parse(body))["dist-tags"])["latest"];
  if (typeof latest !== "string") throw new Error(`${base} knows no version of ${name}`);
  return latest;
}

/** Runs a package client and returns what it prints. */
async function printed(command: string, args: readonly string[], env: Environment): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, { env, timeout: PATIENCE_MS, shell: false });
    return stdout.trim();
  } catch (error) {
    throw new Error(`"${command} ${args.join(" ")}" failed: ${messageOf(error).split("\n")[0]}`, { cause: error });
  }
}

async function newestOnPypi(name: string, env: Environment): Promise<string> {
  const named = env["UV_DEFAULT_INDEX"] || env["UV_INDEX_URL"] || env["PIP_INDEX_URL"];
  if (!named) return newestByPip(name, env);
  const base = slashed(named);
  const project = name.toLowerCase().replace(/[-_.]+/g, "-");
  const body = await fetchFrom(`${base}${project}/`, { name, accept: `${SIMPLE_JSON}, text/html;q=0.5` });
  const newest = versionsIn(body, project).filter(isRelease).sort(compareVersions).at(-1);
  if (newest === undefined) throw new Error(`${base} knows no version of ${name}`);
  return newest;
}

/** Without an index in the environment, pip's own settings say where to look. */
async function newestByPip(name: string, env: Environment): Promise<string> {
  const text = await printed("python3", ["-m", "pip", "index", "versions", name], env).catch((error: Error) => {
    const { stderr } = error.cause as { stderr?: unknown };
    if (!/No matching distribution/.test(String(stderr))) throw error;
    throw new Error(`pip finds no package "${name}" that this Python can use`, { cause: error });
  });
  const newest = /^\S+ \(([^)]+)\)/.exec(text)?.[1];
  if (newest === undefined) throw new Error(`pip knows no version of ${name}`);
  return newest;
}

/** Reads the answer of an index: JSON, or a page with links to files. */
function versionsIn(body: string, project: string): string[] {
  if (body.trimStart().startsWith("{")) {
    const { versions, files } = recordOf(JSON.parse(body));
    if (Array.isArray(versions)) return versions.map(String);
    const names = Array.isArray(files) ? files.map((file) => String(recordOf(file)["filename"])) : [];
    return names.flatMap((file) => versionOfFile(file, project) ?? []);
  }
  return [...body.matchAll(/<a[^>]*>\s*([^<]+?)\s*<\/a>/gi)].flatMap(([, file]) => versionOfFile(file!, project) ?? []);
}

/** `mcp_server_time-1.2.3-py3-none-any.whl`, `mcp-server-time-1.2.3.tar.gz` */
function versionOfFile(file: string, project: string): string | undefined {
  const stem = file.replace(/(-[^-]+-[^-]+-[^-]+)?\.whl$|\.(tar\.gz|zip|tar\.bz2)$/, "");
  const start = stem.slice(0, project.length).toLowerCase().replace(/[_.]/g, "-");
  return start === project && stem[project.length] === "-" ? stem.slice(project.length + 1).split("-")[0] : undefined;
}

function isRelease(version: string): boolean {
  return /^\d+(\.\d+)*$/.test(version);
}

/** Orders versions by their numbers; one with a suffix is before the same without. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (let i = 0; i < Math.max(left.numbers.length, right.numbers.length); i++) {
    const difference = (left.numbers[i] ?? 0) - (right.numbers[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.suffix === right.suffix) return 0;
  if (left.suffix === "" || right.suffix === "") return left.suffix === "" ? 1 : -1;
  return left.suffix > right.suffix ? 1 : -1;
}

function partsOf(version: string): { numbers: number[]; suffix: string } {
  const [, numbers = "", suffix = ""] = /^v?([\d.]*)(.*)$/.exec(version) ?? [];
  return { numbers: numbers.split(".").map(Number), suffix };
}

interface Wanted {
  /** The package. */
  readonly name: string;
  readonly accept: string;
}

async function fetchFrom(url: string, { name, accept }: Wanted): Promise<string> {
  const { origin } = new URL(url);
  const response = await fetch(url, { headers: { accept }, signal: AbortSignal.timeout(PATIENCE_MS) }).catch(
    (error: { cause?: { code?: string } }) => {
      throw new Error(`${origin} cannot be reached (${error.cause?.code ?? "no answer"})`, { cause: error });
    },
  );
  if (response.status === 404) throw new Error(`${origin} has no package "${name}"`);
  if (!response.ok) throw new Error(`${origin} answered ${response.status}`);
  const bytes = await readBounded(response.body, MAX_BYTES);
  if (!bytes) throw new Error(`${origin} answered with more than ${MAX_BYTES} bytes`);
  return bytes.toString("utf8");
}

function slashed(url: string): string {
  return url.endsWith("/") ? url : `${url}/`;
}
