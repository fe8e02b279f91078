/** Runs a program of the system, and returns what it says. */
import { execFile } from "node:child_process";

export interface ToolResult {
  /** Undefined: there is no such program. */
  readonly code: number | undefined;
  readonly out: string;
  /** The last line that it complained with. */
  readonly complaint: string;
}

export type RunTool = (command: string, ...args: string[]) => Promise<ToolResult>;

const PATIENCE_MS = 60_000;

export const runTool: RunTool = (command, ...args) =>
  new Promise((resolve) => {
    execFile(command, args, { timeout: PATIENCE_MS, windowsHide: true }, (error, out, err) => {
      const code = typeof error?.code === "number" ? error.code : error ? 1 : 0;
      const complaint = (err.trim() || out.trim()).split("\n").at(-1) ?? "";
      resolve({ code: error?.code === "ENOENT" ? undefined : code, out, complaint: complaint || `exit code ${code}` });
    });
  });
