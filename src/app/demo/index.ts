/**
 * The demo servers that ship with the package, as commands to start. They need no configuration, so
 * that a first start has something to show.
 */
import { fileURLToPath } from "node:url";
import { packageUrl } from "../../lib/package/files.ts";

export interface DemoCommand {
  id: string;
  command: string;
  args: string[];
}

export function demoServers(): DemoCommand[] {
  const program = fileURLToPath(packageUrl("bundle/main.js"));
  return ["clock", "notes", "lab"].map((id) => ({ id, command: process.execPath, args: [program, id] }));
}
