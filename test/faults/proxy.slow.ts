/**
 * A remote server behind a real proxy (nginx). An idle stream breaks when the proxy restarts, and
 * when the server behind it does; nobody sends anything, and the next update must arrive all the
 * same.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { connectV1 } from "../fixtures/clients.ts";
import { disposeAll, onDispose } from "../fixtures/dispose.ts";
import { startGoblin } from "../fixtures/goblin.ts";
import { startScripted } from "../fixtures/scripted.ts";
import { freePort } from "../fixtures/serve.ts";
import { until } from "../fixtures/until.ts";

afterEach(disposeAll);

const hasNginx = spawnSync("nginx", ["-v"]).status === 0;
if (!hasNginx) console.warn("nginx is not installed: its test is skipped");

interface Proxy {
  readonly url: string;
  restart(signal: NodeJS.Signals): Promise<void>;
}

async function startNginx(behind: string): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), "goblin-nginx-"));
  const port = await freePort();
  const { origin, pathname } = new URL(behind);
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const file = join(folder, "nginx.conf");
  // One process, so that a signal to it is a signal to all of it.
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/errors; events {}
    http { access_log off; ${places.join(" ")} server { listen 127.0.0.1:${port}; location / {
      proxy_pass ${origin}; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
      proxy_read_timeout 1h; } } }`,
  );
  const url = `http://127.0.0.1:${port}${pathname}`;
  const start = async (): Promise<ChildProcess> => {
    const child = spawn("nginx", ["-c", file, "-p", folder, "-e", join(folder, "errors")], { stdio: "ignore" });
    await until(
      () =>
        fetch(url, { method: "DELETE" }).then(
          () => true,
          () => false,
        ),
      { what: "nginx to listen" },
    );
    return child;
  };
  const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  };
  let child = await start();
  onDispose(async () => {
    await end(child, "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    url,
    async restart(signal) {
      await end(child, signal);
      child = await start();
    },
  };
}

test.skipIf(!hasNginx)("an idle stream that breaks at a proxy is opened again, and updates go on", async () => {
  const server = await startScripted({ transport: "http" });
  const proxy = await startNginx(server.url);
  const { gateway, url } = await startGoblin({ mcpServers: { far: { url: proxy.url } } });
  await until(() => gateway.servers.status("far")?.state === "ready");
  const { client, notifications } = await connectV1({ url });
  await client.subscribeResource({ uri: "far+text:///hello" });
  const updates = (): number =>
    notifications.filter(({ method }) => method === "notifications/resources/updated").length;
  const breaks: [string, () => Promise<void>][] = [
    ["a proxy that is stopped", () => proxy.restart("SIGTERM")],
    ["a proxy that is killed", () => proxy.restart("SIGKILL")],
    ["a server that restarts behind it", () => server.restart()],
  ];
  for (const [what, happen] of breaks) {
    const before = updates();
    await happen();
    await until(() => updates() > before, { what: `the synthetic update after ${what}` });
    await until(() => gateway.servers.status("far")?.state === "ready");
    const since = updates();
    await server.control("touch", { uri: "text:///hello" });
    await until(() => updates() > since, { what: `a real update after ${what}` });
  }
  expect(gateway.servers.status("far")?.state).toBe("ready");
});
