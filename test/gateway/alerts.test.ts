/**
 * The alert rules and the queries of the Grafana board, read and run by Prometheus' own program.
 * What they ask for is what the gateway has.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { parse } from "yaml";
import { startGoblin } from "../fixtures/goblin.ts";
import { disposeAll, onDispose } from "../fixtures/peers.ts";
import { parsePrometheus } from "../fixtures/prometheus.ts";

afterEach(disposeAll);

/** Of Debian's package prometheus, which CI installs and asks for. */
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
if (!hasPromtool && process.env["GOBLIN_CI"]) throw new Error("promtool is missing: apt-get install prometheus");
if (!hasPromtool) console.warn("Skipped: there is no promtool here (of the package prometheus)");

const path = (name: string): string => fileURLToPath(new URL(`../../docs/${name}`, import.meta.url));
const rules = (
  parse(readFileSync(path("prometheus-alerts.yml"), "utf8")) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  }
).groups.flatMap((group) => group.rules);

/** Every query of the board, with what Grafana puts in place of its variables. */
function queriesOfBoard(): string[] {
  const board = JSON.parse(readFileSync(path("grafana-dashboard.json"), "utf8")) as {
    templating: { list: { query: string; type: string }[] };
    panels: { title: string; targets: { expr: string }[] }[];
  };
  const variables = board.templating.list.filter(({ type }) => type === "query").map(({ query }) => query);
  const listed = variables.map((query) => /^label_values\((.+), *\w+\)$/.exec(query)![1]!);
  const shown = board.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  return [...listed, ...shown].map((query) =>
    query.replaceAll("$__rate_interval", "5m").replaceAll("$server", "one|two"),
  );
}

function promtool(command: readonly string[], files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), "goblin-promtool-"));
  onDispose(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { status, stdout, stderr } = spawnSync("promtool", command, { cwd: folder, encoding: "utf8" });
  return { status, said: stdout + stderr };
}

test("alerts and the board ask only for families that there are", async () => {
  const goblin = await startGoblin({});
  const found = parsePrometheus(await (await fetch(`${goblin.origin}/metrics`)).text());
  const queries = [...queriesOfBoard(), ...rules.map(({ expr }) => expr)];
  const used = queries.flatMap((query) => query.match(/\b(?:mcp[A-Z_]\w*|process_\w+|nodejs_\w+)\b/g) ?? []);
  const names = used.filter((name) => name !== "mcp_method_name");
  expect(new Set(names).size).toBeGreaterThan(20);
  const unknown = names.filter((name) => !found.has(name) && !found.has(name.replace(/_(bucket|sum|count)$/, "")));
  expect(unknown).toEqual([]);
  expect(queries.join()).toContain("mcpCallerRequestsTotal");
});

test.skipIf(!hasPromtool)("Prometheus reads every query of the board, and every alert", () => {
  const queries = queriesOfBoard();
  const asRules = queries.map((expr, number) => ({ record: `board:query_${number}`, expr }));
  const board = JSON.stringify({ groups: [{ name: "board", rules: asRules }] });
  const { status, said } = promtool(["check", "rules", "board.yml", path("prometheus-alerts.yml")], {
    "board.yml": board,
  });
  expect([status, said]).toEqual([0, expect.stringContaining(`${queries.length} rules found`)]);
  expect(said).toContain(`${rules.length} rules found`);
  const broken = promtool(["check", "rules", "board.yml"], { "board.yml": board.replace("sum(", "sum((") });
  expect(broken.status).not.toBe(0);
});

/** For each alert: series that fire it, and series that do not, one value a minute. */
const cases: Readonly<Record<string, { readonly fires: object; readonly stays: object; readonly minutes: number }>> = {
  GoblinUnreachable: {
    fires: { 'up{job="goblin"}': "0x30" },
    stays: { 'up{job="goblin"}': "1x10 0 1x20" },
    minutes: 5,
  },
  GoblinConfigRefused: {
    fires: { mcpConfigLastReloadOk: "0x30" },
    stays: { mcpConfigLastReloadOk: "1x30" },
    minutes: 10,
  },
  GoblinServerDown: {
    fires: { 'mcpBackendState{serverId="one",state="down"}': "1x30" },
    stays: { 'mcpBackendState{serverId="one",state="down"}': "0x30", 'mcpBackendState{state="ready"}': "1x30" },
    minutes: 10,
  },
  GoblinServerUnusable: {
    fires: { 'mcpBackendState{serverId="one",state="invalid"}': "1x30" },
    stays: { 'mcpBackendState{serverId="one",state="disabled"}': "1x30" },
    minutes: 10,
  },
  GoblinServerNeedsLogin: {
    fires: { 'mcpBackendState{serverId="one",state="needs-login"}': "1x30" },
    stays: { 'mcpBackendState{serverId="one",state="needs-login"}': "1x5 0x25" },
    minutes: 20,
  },
  GoblinServerDegraded: {
    fires: { 'mcpBackendState{serverId="one",state="degraded"}': "1x60" },
    stays: { 'mcpBackendState{serverId="one",state="degraded"}': "0x60" },
    minutes: 40,
  },
  GoblinServerFlaps: {
    fires: { 'mcpBackendReconnectsTotal{serverId="one"}': "0+1x30" },
    stays: { 'mcpBackendReconnectsTotal{serverId="one"}': "0x10 1x20" },
    minutes: 20,
  },
  GoblinErrors: {
    fires: {
      'mcpRequestsTotal{serverId="one",method="tools/call",outcome="ok"}': "0+30x40",
      'mcpRequestsTotal{serverId="one",method="tools/call",outcome="timeout"}': "0+10x40",
    },
    stays: {
      'mcpRequestsTotal{serverId="one",method="tools/call",outcome="ok"}': "0+30x40",
      'mcpRequestsTotal{serverId="one",method="tools/call",outcome="tool-error"}': "0+30x40",
    },
    minutes: 30,
  },
  GoblinServerSlow: {
    fires: slow("0+1x40", "0+10x40"),
    stays: slow("0+10x40", "0+10x40"),
    minutes: 30,
  },
  GoblinQueue: {
    fires: { 'mcpBackendQueueLength{serverId="one"}': "20x30" },
    stays: { 'mcpBackendQueueLength{serverId="one"}': "5x30" },
    minutes: 10,
  },
  GoblinLimitExceeded: {
    fires: { 'mcpLimitsExceededTotal{limit="limits.sessions"}': "0x5 1x20" },
    stays: { 'mcpLimitsExceededTotal{limit="limits.sessions"}': "7x30" },
    minutes: 10,
  },
  GoblinAuditLinesLost: {
    fires: { mcpAuditLinesLostTotal: "0x5 3x20" },
    stays: { mcpAuditLinesLostTotal: "0x30" },
    minutes: 10,
  },
  GoblinRecordingIncomplete: {
    fires: { mcpRecordedFramesLostTotal: "0x5 3x20" },
    stays: { mcpRecordedFramesLostTotal: "0x30" },
    minutes: 10,
  },
  GoblinBusy: {
    fires: { 'nodejs_eventloop_lag_p99_seconds{job="goblin"}': "0.5x30" },
    stays: { 'nodejs_eventloop_lag_p99_seconds{job="goblin"}': "0.01x30" },
    minutes: 15,
  },
};

/** Calls within ten seconds, and all. */
function slow(quick: string, all: string): object {
  const of = 'mcp_client_operation_duration_seconds_bucket{goblin_server_id="one",mcp_method_name="tools/call"';
  return { [`${of},le="10"}`]: quick, [`${of},le="30"}`]: all, [`${of},le="+Inf"}`]: all };
}

test.skipIf(!hasPromtool)("every alert fires when it should, and only then", () => {
  expect(Object.keys(cases).sort()).toEqual(rules.map(({ alert }) => alert).sort());
  const states = Object.entries(cases).flatMap(([alert, { fires, stays, minutes }]) =>
    [fires, stays].map((series) => ({
      interval: "1m",
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        {
          expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
          eval_time: `${minutes}m`,
          exp_samples: [{ labels: "{}", value: series === fires ? 1 : 0 }],
        },
      ],
    })),
  );
  const test = { rule_files: [path("prometheus-alerts.yml")], evaluation_interval: "1m", tests: states };
  const { status, said } = promtool(["test", "rules", "test.yml"], { "test.yml": JSON.stringify(test) });
  expect([status, said]).toEqual([0, expect.stringContaining("SUCCESS")]);
});
