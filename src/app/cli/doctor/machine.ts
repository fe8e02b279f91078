/** What `goblin doctor` examines besides the servers: programs, config, state, port and clients. */
import { createServer } from "node:net";
import { delimiter } from "node:path";
import { adminRoutes } from "../../../admin/api/routes.ts";
import type { Programs } from "../../../admin/api/schema.ts";
import { type Finding, few, type Section } from "../../../admin/doctor/finding.ts";
import { findPrograms, pathFolders } from "../../../admin/doctor/programs.ts";
import { examineStateFolder } from "../../../admin/doctor/state-files.ts";
import type { Problem } from "../../../config/problems/problem.ts";
import { stateFolder } from "../../../config/state-folder.ts";
import { version } from "../../../lib/package/version.ts";
import { formatDuration } from "../../../lib/text/format.ts";
import { isAnswered } from "../clients/handshake.ts";
import { namedAddress } from "../environment.ts";
import { counted } from "../terminal/counted.ts";
import type { Patient } from "./patient.ts";

const INSTALL: Readonly<Record<string, string>> = {
  node: "install Node.js (nodejs.org)",
  npx: "it comes with Node.js (nodejs.org)",
  uvx: "install uv (docs.astral.sh/uv)",
  docker: "install Docker (docs.docker.com)",
};

export async function programSection({ running, target, file }: Patient): Promise<Section> {
  const ofGateway =
    running && target ? await target.request(adminRoutes.getPrograms).catch(() => undefined) : undefined;
  const { path, items }: Programs = ofGateway ?? { path: pathFolders(), items: await findPrograms() };
  const title = ofGateway
    ? "Programs, as the running gateway finds them"
    : "Programs, as a gateway started here finds them";
  const present = items.filter((program) => program.path !== null);
  const shown = present.map(({ name, version: number }) => (number === null ? name : `${name} ${number}`));
  const findings: Finding[] = [
    { level: "ok", code: "programs", where: "PATH", what: shown.length === 0 ? "none" : shown.join(", ") },
  ];
  const commands = new Set(
    file.loaded?.config.servers.flatMap(({ enabled, transport }) =>
      enabled && transport.kind === "stdio" && transport.env["PATH"] === undefined ? transport.command : [],
    ),
  );
  for (const { name } of items.filter((program) => program.path === null)) {
    const what = `${name} is not on the PATH`;
    const remedy = `${INSTALL[name]}; the PATH is ${path.join(delimiter)}`;
    if (commands.has(name)) findings.push({ level: "error", code: "program_missing", where: name, what, remedy });
    else if (name !== "docker") findings.push({ level: "note", code: "program_missing", where: name, what });
  }
  return { title, findings };
}

export async function configSection({ running, target, file }: Patient): Promise<Section> {
  const path = running ? (running.configPath ?? undefined) : file.path;
  const title = path === undefined ? "Config" : `Config ${path}`;
  if (running && target) return { title, findings: await runningConfig({ running, target }) };
  if (path === undefined) {
    const what = "no config found: goblin serve would run its demo servers";
    return {
      title,
      findings: [
        {
          level: "note",
          code: "config_missing",
          where: "config",
          what,
          remedy: "goblin import takes your clients' servers over",
        },
      ],
    };
  }
  const findings = [
    ...file.errors.map((problem) => problemFinding("error", problem)),
    ...file.warnings.map((problem) => problemFinding("warning", problem)),
  ];
  if (findings.length > 0) return { title, findings };
  const count = file.loaded?.config.servers.length ?? 0;
  return {
    title,
    findings: [{ level: "ok", code: "config", where: path, what: `valid, ${counted(count, "server")}` }],
  };
}

async function runningConfig({ running, target }: Required<Pick<Patient, "running" | "target">>): Promise<Finding[]> {
  const where = running?.configPath ?? "config";
  const problem = running?.configProblem;
  if (problem) {
    const ago = formatDuration(Date.now() - problem.at);
    const what = `the gateway refused the file ${ago} ago and goes on with the config before it: ${problem.summary}`;
    return [{ level: "error", code: "config_refused", where, what, remedy: "mend the file; it is read again at once" }];
  }
  const changes = await target?.request(adminRoutes.getConfigChanges).catch(() => undefined);
  const pending = changes ? [...changes.added, ...changes.removed, ...changes.changed, ...changes.settings] : [];
  if (pending.length > 0) {
    const remedy = changes?.restartNeeded.length ? "restart the gateway" : "reload the gateway: kill -HUP, or its page";
    const what = `the file differs from what the gateway runs: ${few(pending)}`;
    return [{ level: "warning", code: "config_not_applied", where, what, remedy }];
  }
  return [{ level: "ok", code: "config", where, what: "in use" }];
}

function problemFinding(level: "error" | "warning", { file, line, column, key, message, hint }: Problem): Finding {
  const where = line === 0 ? file : `${file}:${line}:${column}`;
  return { level, code: "config_problem", where, what: key === "" ? message : `${key}: ${message}`, remedy: hint };
}

export function stateSection(): Section {
  const folder = stateFolder(process.env);
  return { title: `State folder ${folder}`, findings: examineStateFolder(folder) };
}

export async function gatewaySection({ running, target, file, findings }: Patient): Promise<Section> {
  const title = "Gateway";
  if (running) {
    const where = running.endpoint || (target?.url ?? "");
    const what = `Goblin ${running.version} runs at ${where}, since ${formatDuration(running.uptimeMs)}`;
    const found: Finding[] = [{ level: "ok", code: "gateway", where, what }];
    if (running.version !== version) {
      const older = `this command is ${version}`;
      found.push({ level: "warning", code: "gateway_version", where, what: older, remedy: "restart the gateway" });
    }
    return { title, findings: found };
  }
  if (findings.length > 0) return { title, findings };
  const named = namedAddress({}, process.env);
  const host = named.host ?? file.loaded?.config.gateway.host ?? "127.0.0.1";
  const port = named.port ?? file.loaded?.config.gateway.port ?? 3000;
  const finding = await portFinding(host, port);
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}/mcp`;
  if (finding.level !== "error" || !(await isAnswered(url))) return { title, findings: [finding] };
  return { title, findings: [{ level: "ok", code: "gateway", where: url, what: `a gateway runs at ${url}` }] };
}

/** Whether a gateway could listen there. */
function portFinding(host: string, port: number): Promise<Finding> {
  const where = `${host}:${port}`;
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", ({ code, message }: NodeJS.ErrnoException) => {
      const remedy = code === "EACCES" ? "choose a port above 1023" : "choose another: gateway.port and gateway.host";
      const what = code === "EADDRINUSE" ? "another program has this port" : `a gateway cannot listen here: ${message}`;
      resolve({ level: "error", code: "port", where, what, remedy });
    });
    server.listen(port, host, () => {
      const what = "no gateway runs; the port is free";
      server.close(() => resolve({ level: "note", code: "port", where, what, remedy: "goblin serve starts one" }));
    });
  });
}
