// @ts-check
// Loaded into the gateway's process: writes down every turn of the event loop that took long, in
// CPU time, which other programs do not change. The CPU time between two ticks is that of the turns
// between them, so a turn is at most as long as what is written here.

import { appendFileSync } from "node:fs";

const TICK_MS = 5;
const LONG_MS = 20;
const file = process.env["GOBLIN_TURNS"];
if (file !== undefined) {
  let last = process.cpuUsage();
  setInterval(() => {
    const { user, system } = process.cpuUsage(last);
    last = process.cpuUsage();
    const ms = (user + system) / 1000;
    if (ms > LONG_MS) appendFileSync(file, `${Date.now()} ${ms}\n`);
  }, TICK_MS).unref();
}
