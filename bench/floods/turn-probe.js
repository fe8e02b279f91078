// @ts-check
// Loaded into the gateway's process: writes down every turn of the event loop that took long, in
// CPU time of its thread, which other programs do not change. The CPU time between two ticks is
// that of the turns between them, so a turn is at most as long as what is written here.

import { appendFileSync, readFileSync } from "node:fs";

const TICK_MS = 5;
const LONG_MS = 20;
const file = process.env["GOBLIN_TURNS"];

/** The CPU time of the main thread in milliseconds. */
const used = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;

if (file !== undefined) {
  let last = used();
  setInterval(() => {
    const ms = used() - last;
    last += ms;
    if (ms > LONG_MS) appendFileSync(file, `${Date.now()} ${ms}\n`);
  }, TICK_MS).unref();
}
