// @ts-check
// `npm run floods [-- part of a name]`: the memory that each flood costs a gateway with default
// settings.
//
// Every flood has a gateway of its own, as a process. Resident memory is read before, while (the
// peak) and after it. The longest turn of the gateway's event loop, in CPU time, shows whether the
// flood can hold up others. Linux only.

import { floods, serverOf } from "./floods/floods.js";
import { pause, startGateway } from "./floods/parts.js";

const SAMPLE_MS = 50;
const SETTLE_MS = 4000;
const LIMIT_MS = 60_000;
const only = process.argv[2]?.toLowerCase() ?? "";
const mb = (/** @type {number} */ bytes) => `${Math.round(bytes / 1_048_576)} MB`;

console.log("| FOUND | flood | before | peak | after | longest turn |");
console.log("|---|---|---|---|---|---|");
for (const flood of floods) {
  if (!`${flood.row} ${flood.what}`.toLowerCase().includes(only)) continue;
  const server = await serverOf(flood);
  // Some floods begin with the connection, so the memory before is that of a gateway without
  // servers.
  const idle = await startGateway({});
  await pause(500);
  const before = idle.rss();
  await idle.close();
  const gateway = await startGateway({ s: server.entry });
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, gateway.rss());
  }, SAMPLE_MS);
  const failed = await Promise.race([
    flood.run(gateway).then(
      () => "",
      (error) => ` (${error.message})`,
    ),
    pause(LIMIT_MS).then(() => " (cut off)"),
  ]);
  await pause(SETTLE_MS);
  clearInterval(sampling);
  const after = gateway.isAlive() ? mb(gateway.rss()) : "it ended";
  console.log(
    `| ${flood.row} | ${flood.what}${failed} | ${mb(before)} | ${mb(peak)} | ${after} | ${Math.round(gateway.longestTurn())} ms |`,
  );
  await gateway.close();
  server.close();
}
process.exit(0);
