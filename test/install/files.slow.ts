/**
 * What else Goblin is installed with: the compose files, the systemd unit and the Homebrew formula,
 * each read by the program that it is for, or by as much of it as can be had.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { parseConfig } from "../../src/config/reading/parse.ts";
import { hasTool } from "./tools.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const compose = join(root, "deploy/compose");
const folder = mkdtempSync(join(tmpdir(), "goblin-files-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Service {
  readonly image: string;
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
}

describe("compose", () => {
  const files = readdirSync(compose)
    .filter((name) => name.endsWith(".yml") && name !== "prometheus.yml")
    .map((name) => ({ name, text: readFileSync(join(compose, name), "utf8") }));

  test.each(files)("$name mounts what exists, and pins what it pulls", ({ text }) => {
    const { services, volumes = {} } = parse(text, { merge: true }) as Compose;
    for (const service of Object.values(services)) {
      if (service.image !== "goblin-mcp") expect(service.image).toMatch(/:v?\d+\.\d+/);
      for (const volume of service.volumes ?? []) {
        const [from = ""] = volume.split(":");
        if (from.startsWith(".")) expect(existsSync(join(compose, from)), volume).toBe(true);
        else expect(Object.keys(volumes)).toContain(from);
      }
    }
  });

  test.each(readdirSync(join(compose, "config")))("the config %s is valid", (name) => {
    const env = { GOBLIN_TOKEN: "0123456789abcdef0123456789abcdef", GOBLIN_ADDRESS: "goblin-1:3001" };
    const text = readFileSync(join(compose, "config", name), "utf8");
    expect(() => parseConfig(text, { file: name, env })).not.toThrow();
  });

  test.runIf(hasTool("promtool", "--version"))("Prometheus accepts its config and the rules", () => {
    const text = readFileSync(join(compose, "prometheus.yml"), "utf8");
    const rules = join(root, "docs/prometheus-alerts.yml");
    const token = join(folder, "token");
    writeFileSync(token, "x");
    const here = text.replace("/etc/prometheus/goblin-alerts.yml", rules).replace("/run/secrets/goblin_token", token);
    writeFileSync(join(folder, "prometheus.yml"), here);
    const { status, stderr } = spawnSync("promtool", ["check", "config", join(folder, "prometheus.yml")], {
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });
});

describe.runIf(hasTool("systemd-analyze", "--version"))("the systemd unit", () => {
  test("is accepted, and leaves little exposed", () => {
    const text = readFileSync(join(root, "deploy/systemd/goblin.service"), "utf8");
    const unit = join(folder, "goblin.service");
    writeFileSync(unit, text.replace("/usr/local/bin/goblin", process.execPath));
    const { stdout, stderr, status } = spawnSync("systemd-analyze", ["--man=no", "verify", unit], { encoding: "utf8" });
    expect({ said: stdout + stderr, status }).toEqual({ said: "", status: 0 });
    const exposed = spawnSync("systemd-analyze", ["security", "--offline=true", "--threshold=20", unit]);
    expect(exposed.status).toBe(0);
    const open = spawnSync("systemd-analyze", ["security", "--offline=true", "--threshold=5", unit]);
    expect(open.status).toBe(1);
  });
});

describe.runIf(hasTool("ruby", "--version"))("the Homebrew formula", () => {
  test("installs the package, makes completions and passes its own test", () => {
    execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: root, stdio: "pipe" });
    const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz"))!);
    execFileSync("tar", ["-xzf", tarball, "-C", folder]);
    const url = "https://example.com/goblin-mcp-0.1.0.tgz";
    const script = join(root, "scripts/formula.js");
    const formula = execFileSync(process.execPath, [script, tarball, url], { encoding: "utf8" });
    expect(formula).toContain(`url "${url}"`);
    expect(formula).not.toContain("@");
    writeFileSync(join(folder, "goblin.rb"), formula);
    const args = [
      join(root, "test/install/homebrew.rb"),
      ...["goblin.rb", "package", "brewed"].map((name) => join(folder, name)),
    ];
    const said = execFileSync("ruby", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    const digest = execFileSync("sha256sum", [tarball], { encoding: "utf8" }).slice(0, 64);
    expect(said).toContain(`sha256: ${digest}`);
    expect(said).toContain("run: /opt/bin/goblin serve\n");
  });
});
