#!/usr/bin/env node
const words = process.argv.slice(2);
// Clients wait for a pipe when they start, so it has a small file of its own.
const code = words.includes("--attach") ? await (await import("../bundle/attach.js")).attachQuickly(words) : undefined;
process.exitCode = code ?? (await (await import("../bundle/goblin.js")).run(words));
