// @ts-check
// Tool calls with large results: what it costs to carry bytes. Every byte is compared.

import { httpServer, stdioServer } from "../subjects.js";

const SIZES = [
  { name: "100 kB", size: 100_000 },
  { name: "1 MB", size: 1_000_000 },
  { name: "10 MB", size: 10_000_000 },
];

/** @type {import("../run.js").Scenario} */
export const sizes = {
  name: "sizes",
  seconds: { full: 8, short: 2 },
  async run(lab) {
    const url = lab.backendUrl({ tag: "sizes", era: "legacy" });
    const http = httpServer(url);
    const servers = lab.isGoblin ? { http, stdio: stdioServer({ era: "legacy" }) } : { http };
    const proxy = await lab.beside("proxy", url);
    const goblin = await lab.goblin({ servers });
    const paths = [
      { path: "proxy", subject: proxy, tool: "big" },
      ...Object.keys(servers).map((server) => ({
        path: `${goblin.name}, ${server}`,
        subject: goblin,
        tool: goblin.tool(server, "big"),
      })),
    ];
    const notes = [];
    const rows = [];
    /** @type {import("../report.js").Bar[]} */
    const bars = [];
    for (const { name, size } of lab.short ? SIZES.slice(1, 2) : SIZES) {
      const usable = [];
      for (const it of paths) {
        /** @type {import("../lab.js").Cell} */
        const cell = {
          subject: it.subject,
          load: { era: "legacy", connections: 4, count: 100_000_000 / size, ask: { kind: "big", tool: it.tool, size } },
        };
        const refusal = await lab.refusal(cell);
        if (refusal === undefined) usable.push({ path: it.path, cell });
        else notes.push(`${it.path}, ${name}: skipped: ${refusal}`);
      }
      const samples = await lab.compare(
        usable.map(({ cell }) => cell),
        { warmCalls: Math.max(4, Math.min(150, 30_000_000 / size)), duration: lab.short ? 130 : 160 },
      );
      const [base] = samples;
      if (!base) continue;
      for (const [index, { path }] of usable.entries()) {
        const own = samples[index] ?? base;
        const ratio = own.perSecond / base.perSecond;
        const megabytes = (own.perSecond * size) / 1e6;
        rows.push([path, name, own.perSecond, megabytes, ratio, own.cpuUs, own.cpuUs / base.cpuUs]);
        if (path === "goblin, http" && size === 1_000_000)
          bars.push({ name: "1 MB results against the proxy", value: ratio, least: 0.8 });
      }
    }
    const columns = ["path", "result", "calls/s", "MB/s", "× proxy", "CPU µs", "× proxy"];
    return { tables: [{ title: "tools/call, large results, 4 connections", columns, rows, notes }], bars };
  },
};
