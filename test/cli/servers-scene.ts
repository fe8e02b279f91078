/**
 * A home whose config names a registry that runs here, and programs named npx and uvx, for the
 * tests of `goblin search`, `add` and `outdated`. Ended by `disposeAll`.
 */
import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { type CommandHome, commandHome } from "../fixtures/command.ts";
import { onDispose } from "../fixtures/dispose.ts";

const DEMO = fileURLToPath(new URL("../../dist/app/demo/main.js", import.meta.url));

export interface Registry {
  readonly url: string;
  /** What it was asked. */
  readonly asked: string[];
  servers: Record<string, unknown>[];
  isDown: boolean;
  /** Other paths, with their answers. */
  readonly files: Map<string, string | Buffer>;
}

/** Speaks the API of MCP registries, in pages of two, and that of npm and PyPI. */
async function startRegistry(): Promise<Registry> {
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url!, "http://localhost");
    registry.asked.push(incoming.url!);
    const answer = (status: number, body: unknown): void => {
      outgoing.writeHead(status, { "content-type": "application/json" });
      outgoing.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
    };
    if (registry.isDown) return answer(503, {});
    const file = registry.files.get(url.pathname);
    if (file !== undefined) return void outgoing.end(file);
    const meta = { "io.modelcontextprotocol.registry/official": { status: "active", isLatest: true } };
    if (url.pathname === "/v0.1/servers") {
      const from = Number(url.searchParams.get("cursor") ?? 0);
      const servers = registry.servers.slice(from, from + 2).map((one) => ({ server: one, _meta: meta }));
      const nextCursor = from + 2 < registry.servers.length ? String(from + 2) : undefined;
      return answer(200, { servers, metadata: { count: servers.length, nextCursor } });
    }
    const [, name = ""] = /^\/v0\.1\/servers\/([^/]+)\/versions\/[^/]+$/.exec(url.pathname) ?? [];
    const found = registry.servers.find((one) => one["name"] === decodeURIComponent(name));
    return found ? answer(200, { server: found, _meta: meta }) : answer(404, { error: "not found" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onDispose(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const registry: Registry = { url, asked: [], servers: [], isDown: false, files: new Map() };
  return registry;
}

export interface ServersScene {
  readonly home: CommandHome;
  readonly registry: Registry;
  /** The config. */
  readonly file: string;
}

/** The registry has a server with a package, answers to give and a secret, and two with nothing. */
export async function serversScene(): Promise<ServersScene> {
  const home = commandHome();
  const registry = await startRegistry();
  home.env["GOBLIN_KEYCHAIN"] = "0";
  home.env["npm_config_registry"] = `${registry.url}/npm/`;
  home.env["UV_DEFAULT_INDEX"] = `${registry.url}/simple/`;
  registry.servers = [
    {
      name: "io.github.ada/weather-mcp",
      description: "Forecasts for any place",
      version: "1.2.0",
      packages: [
        {
          registryType: "npm",
          identifier: "@ada/weather",
          version: "1.2.0",
          transport: { type: "stdio" },
          packageArguments: [
            { type: "named", name: "--units", default: "metric" },
            { type: "positional", valueHint: "city", isRequired: true, description: "Where you are" },
          ],
          environmentVariables: [
            { name: "WEATHER_KEY", isRequired: true, isSecret: true, description: "Your key" },
            { name: "WEATHER_LANG" },
          ],
        },
      ],
      remotes: [{ type: "streamable-http", url: "https://weather.example/mcp" }],
    },
    { name: "io.github.bob/pdf", description: "Reads PDF files", version: "0.3.0", packages: [], remotes: [] },
    { name: "com.example/mail", description: "Sends mail", version: "2.0.0", packages: [], remotes: [] },
  ];
  const file = home.write(
    "team.json",
    `{\n  // ours\n  "mcpServers": {},\n  "registry": { "urls": ["${registry.url}"] }\n}\n`,
  );
  return { home, registry, file };
}

/** Programs named npx and uvx that run a demo server, whatever package they are given. */
export function placeRunners(home: CommandHome): void {
  for (const name of ["npx", "uvx"])
    chmodSync(home.write(name, `#!/bin/sh\nexec '${process.execPath}' '${DEMO}' clock\n`), 0o755);
  home.env["PATH"] = `${home.folder}:${process.env["PATH"]}`;
}

/** A zip archive with these files, deflated. */
export function zip(files: Record<string, string>): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const [path, data, packed] = [Buffer.from(name), Buffer.from(text), deflateRawSync(text)];
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50);
    local.writeUInt16LE(8, 8);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt32LE(data.length, 22);
    local.writeUInt16LE(path.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50);
    central.writeUInt16LE(8, 10);
    central.writeUInt32LE(packed.length, 20);
    central.writeUInt32LE(data.length, 24);
    central.writeUInt16LE(path.length, 28);
    central.writeUInt32LE(at, 42);
    locals.push(local, path, packed);
    centrals.push(central, path);
    at += 30 + path.length + packed.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, directory, end]);
}

/** A bundle with a demo server in it; the user says which. */
export function clockBundle(): Buffer {
  const manifest = {
    manifest_version: "0.3",
    name: "clock-bundle",
    version: "1.0.0",
    server: {
      type: "node",
      entry_point: "server/index.js",
      mcp_config: { command: process.execPath, args: ["${__dirname}/server/index.js", "${user_config.which}"] },
    },
    user_config: { which: { type: "string", title: "Which demo", required: true } },
  };
  return zip({
    "manifest.json": JSON.stringify(manifest),
    "server/index.js": `import ${JSON.stringify(DEMO)};\n`,
    "server/package.json": '{ "type": "module" }',
  });
}
