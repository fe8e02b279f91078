#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";

const words = process.argv.slice(2);
keepYoungGenerationSmall();
// Clients wait for a pipe when they start, so it has a small file of its own.
const code = words.includes("--attach") ? await (await import("../bundle/attach.js")).attachQuickly(words) : undefined;
process.exitCode = code ?? (await (await import("../bundle/goblin.js")).run(words));

/**
 * Keeps V8's space for young objects small while the program starts, which is why it is done here.
 * Most objects that a start makes stay. So V8 doubles that space at nearly every collection, and an
 * idle gateway would keep what it touched of it: 5 MB. Afterwards it grows with the load, as ever.
 */
function keepYoungGenerationSmall() {
  // V8 complains about a flag that it does not know. Newer versions of Node may not know this one.
  if (Number.parseInt(process.versions.node, 10) > 24) return;
  setFlagsFromString("--semi-space-growth-factor=1");
  setTimeout(() => setFlagsFromString("--semi-space-growth-factor=2"), 2000).unref();
}
