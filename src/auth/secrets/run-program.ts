/**
 * Runs a program that supplies a secret, without a shell, and returns what it prints.
 *
 * Its time and its output are limited, and it ends with Goblin. An error names the program and its
 * exit code, never its arguments' values or anything that it printed, unless `tells` says that its
 * stderr holds no secret.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { endWithProcess, hasEnded, killGroup } from "../../mcp/links/process-groups.ts";
import { windowsCommand } from "../../mcp/links/programs/windows-command.ts";
import { logText } from "../../mcp/protocol/log-text.ts";

export interface ProgramOptions {
  readonly words: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** The last line of stderr belongs into the error. */
  readonly tells?: boolean;
}

const MAX_BYTES = 64 * 1024;
const SHOWN_CHARS = 200;

export async function runProgram(options: ProgramOptions): Promise<string> {
  const [program = ""] = options.words;
  const { output, problem } = await collect(options);
  if (problem !== undefined) throw new Error(`${program} ${problem}`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(output);
  } catch {
    throw new Error(`${program} printed bytes that are not text`);
  }
  const value = text.replace(/\r?\n$/, "");
  if (value === "") throw new Error(`${program} printed nothing`);
  return value;
}

interface Outcome {
  readonly output: Buffer;
  readonly problem?: string;
}

function collect(options: ProgramOptions): Promise<Outcome> {
  const { timeoutMs, tells } = options;
  return new Promise((resolve) => {
    const child = start(options);
    const chunks: Buffer[] = [];
    let size = 0;
    let said = "";
    const finish = (problem?: string): void => {
      clearTimeout(timer);
      if (child.pid !== undefined) {
        killGroup(child.pid, "SIGKILL");
        hasEnded(child.pid);
      }
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ output: Buffer.concat(chunks), ...(problem !== undefined && { problem }) });
    };
    const timer = setTimeout(() => finish(`did not end within ${timeoutMs} ms`), timeoutMs);
    if (child.pid !== undefined) endWithProcess(child.pid);
    child.stdout?.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BYTES) finish(`printed more than ${MAX_BYTES} bytes`);
      else chunks.push(chunk);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      if (tells) said = (said + chunk.toString("utf8")).slice(-4 * SHOWN_CHARS);
    });
    child.once("error", (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === "ENOENT";
      finish(isMissing ? "cannot be started: it is not on the PATH" : `cannot be started (${error.code ?? "failed"})`);
    });
    child.once("close", (code, signal) => {
      if (code === 0) return finish();
      const last = said.trim().split("\n").at(-1) ?? "";
      const words = last === "" ? "" : `: ${logText(last, SHOWN_CHARS)}`;
      finish(`${signal ? `was ended by ${signal}` : `exited with code ${code}`}${words}`);
    });
  });
}

function start({ words, folder, env }: ProgramOptions): ChildProcess {
  const [command = "", ...given] = words;
  const own = Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
  const { file, args, verbatim } =
    process.platform === "win32"
      ? windowsCommand({ command, args: given, env: own, cwd: folder })
      : { file: command, args: given, verbatim: false };
  return spawn(file, [...args], {
    cwd: folder,
    env: own,
    stdio: ["ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
  });
}
