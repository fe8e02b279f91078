/**
 * MCP bundles (`.mcpb`): a zip archive with a server's files and a manifest that says how to run
 * it. A bundle is unpacked once into the state folder, by name and version.
 */
import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { stateFolder } from "../../config/state-folder.ts";
import { readBounded } from "../../lib/http-client/read-bounded.ts";
import { isRecord, recordOf } from "../../lib/structures/record.ts";
import { type Answers, type Launch, type LaunchInput, shortName } from "./launch.ts";
import { unzip } from "./unzip.ts";

const MAX_BYTES = 512 * 1024 * 1024;
const PATIENCE_MS = 300_000;

export interface BundleSource {
  /** A path, or a URL. */
  readonly from: string;
  readonly sha256?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Fetches, checks and unpacks a bundle. @throws Error that says what is wrong with it */
export async function openBundle({ from, sha256, env }: BundleSource): Promise<Launch & { readonly folder: string }> {
  const bytes = await load(from);
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== undefined && digest !== sha256)
    throw new Error(`${from} has the SHA-256 ${digest}, but should have ${sha256}: it is not used`);
  const files = unzip(bytes);
  const written = files.find(({ path }) => path === "manifest.json");
  if (!written) throw new Error(`${from} has no manifest.json: it is not an MCP bundle`);
  const manifest = recordOf(JSON.parse(written.bytes.toString("utf8")));
  const config = recordOf(recordOf(manifest["server"])["mcp_config"]);
  if (typeof config["command"] !== "string") throw new Error(`${from}: its manifest does not say how to run it`);
  const name = String(manifest["name"] ?? "bundle");
  const safe = `${name}-${String(manifest["version"] ?? "0")}-${digest.slice(0, 8)}`.replace(/[^\w.-]+/g, "-");
  const folder = join(stateFolder(env), "bundles", safe);
  await unpack(files, folder);
  return { ...launch({ manifest, config, folder }), folder, name: shortName(name) };
}

async function load(from: string): Promise<Buffer> {
  if (!/^https?:/.test(from)) return readFile(from);
  const response = await fetch(from, { signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!response.ok) throw new Error(`${from} answered ${response.status}`);
  const bytes = await readBounded(response.body, MAX_BYTES);
  if (!bytes) throw new Error(`${from} has more than ${MAX_BYTES} bytes: it is not used`);
  return bytes;
}

/** The folder appears as a whole. */
async function unpack(files: ReturnType<typeof unzip>, folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}.tmp`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    for (const { path, bytes, isExecutable } of files) {
      const file = join(draft, ...path.split("/"));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, bytes);
      if (isExecutable) await chmod(file, 0o755);
    }
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

interface Unpacked {
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
  readonly folder: string;
}

function launch({ manifest, config, folder }: Unpacked): Launch {
  const fields = recordOf(manifest["user_config"]);
  const overrides = recordOf(recordOf(config["platform_overrides"])[process.platform]);
  const own = { ...config, ...overrides };
  const isUsed = (key: string): boolean => JSON.stringify(own).includes(`\${user_config.${key}}`);
  const questions = Object.entries(fields)
    .filter(([key]) => isUsed(key))
    .map(([key, field]) => questionOf(key, recordOf(field), folder));
  return {
    name: "",
    questions,
    entry(answers) {
      const put = (text: string): string => filled(text, folder, withDefaults(answers, questions));
      const env = Object.entries(recordOf(own["env"])).map(([key, value]) => [key, put(String(value))]);
      const args = Array.isArray(own["args"]) ? own["args"].map((arg) => put(String(arg))) : [];
      return { command: put(String(own["command"])), args, ...(env.length > 0 && { env: Object.fromEntries(env) }) };
    },
  };
}

function questionOf(key: string, field: Readonly<Record<string, unknown>>, folder: string): LaunchInput {
  const usual = Array.isArray(field["default"]) ? field["default"][0] : field["default"];
  const { title, description } = field;
  return {
    key,
    description: [title, description].filter((text) => typeof text === "string").join(": ") || undefined,
    isRequired: field["required"] === true,
    isSecret: field["sensitive"] === true,
    default: isRecord(usual) || usual === undefined ? undefined : filled(String(usual), folder, new Map()),
    choices: [],
  };
}

function withDefaults(answers: Answers, questions: readonly LaunchInput[]): Answers {
  const usual = questions.flatMap((one) => (one.default === undefined ? [] : [[one.key, one.default] as const]));
  return new Map([...usual, ...answers]);
}

function filled(text: string, folder: string, answers: Answers): string {
  return text
    .replaceAll("${__dirname}", () => folder)
    .replaceAll("${HOME}", () => homedir())
    .replaceAll("${/}", () => (process.platform === "win32" ? "\\" : "/"))
    .replace(/\$\{user_config\.([^}]+)\}/g, (_, key: string) => answers.get(key) ?? "");
}
