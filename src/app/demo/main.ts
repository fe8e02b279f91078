/**
 * The program of every demo server: `node main.js clock|notes|lab`, MCP over stdin and stdout.
 *
 * It exits when its input ends, even if calls are still running.
 */
import { createClock } from "./clock.ts";
import type { Demo } from "./demo.ts";
import { createLab } from "./lab.ts";
import { serveLines } from "./line-server.ts";
import { createNotes } from "./notes.ts";

const demos: Record<string, () => Demo> = { clock: createClock, notes: createNotes, lab: createLab };

const name = process.argv[2] ?? "";
const create = Object.hasOwn(demos, name) ? demos[name] : undefined;
if (create) {
  await serveLines(create(), process.stdin, process.stdout);
  process.exit(0);
} else {
  process.stderr.write(`usage: main.js ${Object.keys(demos).join("|")}\n`);
  process.exit(2);
}
