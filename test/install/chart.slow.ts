/**
 * The Helm chart, rendered by Helm itself. What comes out is compiled against Kubernetes' own
 * types, where an unknown or missing key is an error, and its config is read by Goblin.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { parseConfig } from "../../src/config/reading/parse.ts";
import { hasTool } from "./tools.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const chart = join(root, "deploy/helm/goblin");
const folder = mkdtempSync(join(tmpdir(), "goblin-chart-"));
afterAll(() => rmSync(folder, { recursive: true }));

// biome-ignore lint/suspicious/noExplicitAny: a manifest as it was rendered; tests look into it freely
type Manifest = any;
type Values = Record<string, unknown>;

function helm(values: Values): { status: number | null; stdout: string; stderr: string } {
  const file = join(folder, "values.json");
  writeFileSync(file, JSON.stringify(values));
  return spawnSync("helm", ["template", "goblin", chart, "--namespace", "tools", "-f", file], { encoding: "utf8" });
}

function render(values: Values): Map<string, Manifest> {
  const { status, stdout, stderr } = helm(values);
  if (status !== 0) throw new Error(stderr);
  const documents = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
  return new Map(documents.filter(Boolean).map((document) => [document.kind as string, document]));
}

/** Where Kubernetes' types for a manifest are; what is not here is of another maker. */
const MODULES: Record<string, string> = {
  v1: "core/v1",
  "apps/v1": "apps/v1",
  "autoscaling/v2": "autoscaling/v2",
  "policy/v1": "policy/v1",
  "networking.k8s.io/v1": "networking/v1",
};

/** What the compiler says of the manifests, as literals of their types. */
function typeErrors(manifests: readonly Manifest[]): string {
  const known = manifests.filter(({ apiVersion }) => MODULES[apiVersion]);
  const lines = known.map(({ apiVersion, kind, ...rest }, i) => {
    const type = `import("kubernetes-types/${MODULES[apiVersion]}").${kind}`;
    return `export const m${i}: ${type} = ${JSON.stringify({ apiVersion, kind, ...rest })};`;
  });
  // Where the compiler finds the package with the types.
  const file = join(root, "node_modules/.cache/goblin-chart.ts");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${lines.join("\n")}\n`);
  const options = ["--noEmit", "--strict", "--ignoreConfig", "--skipLibCheck", "--module", "esnext"];
  const { stdout } = spawnSync("npx", ["tsc", ...options, "--moduleResolution", "bundler", file], {
    cwd: root,
    encoding: "utf8",
  });
  rmSync(file);
  return stdout;
}

const everything: Values = {
  image: { digest: `sha256:${"0".repeat(64)}` },
  imagePullSecrets: [{ name: "pull" }],
  existingSecret: "goblin-secret",
  env: [{ name: "TZ", value: "UTC" }],
  replicaCount: 3,
  autoscaling: { enabled: true },
  podDisruptionBudget: { enabled: true, maxUnavailable: "34%" },
  cluster: { redis: "${env:GOBLIN_REDIS}" },
  config: { gateway: { admin: { port: 3002, host: "0.0.0.0" } } },
  ingress: { enabled: true, className: "nginx", hosts: ["mcp.example.com"], tls: [{ hosts: ["mcp.example.com"] }] },
  networkPolicy: { metricsFrom: [{ namespaceSelector: { matchLabels: { name: "monitoring" } } }] },
  serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
  nodeSelector: { "kubernetes.io/os": "linux" },
  tolerations: [{ key: "a", operator: "Exists" }],
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }],
};

test("the chart has the version of the package", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  expect(readFileSync(join(chart, "Chart.yaml"), "utf8")).toContain(
    `\nversion: ${version}\nappVersion: "${version}"\n`,
  );
});

describe.runIf(hasTool("helm", "version"))("helm", () => {
  test("finds nothing wrong with the chart", () => {
    const said = execFileSync("helm", ["lint", "--strict", chart], { encoding: "utf8" });
    expect(said).toContain("1 chart(s) linted, 0 chart(s) failed");
  });

  test("makes manifests of which Kubernetes knows every key", () => {
    const [least, most] = [render({}), render(everything)];
    const stored = render({ persistence: { enabled: true }, secret: { GOBLIN_TOKEN: "x" } });
    expect([...least.keys()].sort()).toEqual(["ConfigMap", "Deployment", "NetworkPolicy", "Service", "ServiceAccount"]);
    const further = ["HorizontalPodAutoscaler", "Ingress", "PodDisruptionBudget", "ServiceMonitor"];
    expect([...most.keys()]).toEqual(expect.arrayContaining(further));
    expect([...stored.keys()]).toEqual(expect.arrayContaining(["PersistentVolumeClaim", "Secret"]));
    const all = [least, most, stored].flatMap((manifests) => [...manifests.values()]);
    expect(typeErrors(all)).toBe("");
    const wrong = structuredClone(least.get("Deployment"));
    wrong.spec.template.spec.containers[0].livenesProbe = {};
    wrong.spec.replicas = "1";
    expect(typeErrors([wrong])).toMatch(/livenesProbe/);
  });

  test("runs as a user with no rights on a root that nobody can write to", () => {
    const { spec } = render({}).get("Deployment").spec.template;
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
    expect(spec.securityContext.fsGroupChangePolicy).toBe("OnRootMismatch");
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const writable = spec.containers[0].volumeMounts.filter((mount: Manifest) => !mount.readOnly);
    expect(writable.map((mount: Manifest) => mount.mountPath)).toEqual(["/data", "/tmp"]);
  });

  test("asks for health by a name that every gateway allows", () => {
    const [container] = render({}).get("Deployment").spec.template.spec.containers;
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"])
      expect(container[probe].httpGet).toEqual({
        path: probe === "readinessProbe" ? "/ready" : "/health",
        port: "http",
        scheme: "HTTP",
        httpHeaders: [{ name: "Host", value: "localhost" }],
      });
    const tls = { config: { gateway: { tls: { cert: "/tls/tls.crt", key: "/tls/tls.key" } } } };
    const [secure] = render(tls).get("Deployment").spec.template.spec.containers;
    expect(secure.livenessProbe.httpGet.scheme).toBe("HTTPS");
  });

  test("keeps secrets out of the config map, and names where they are", () => {
    const manifests = render({ secret: { GOBLIN_TOKEN: "s3cret-s3cret-s3cret" } });
    const { data } = manifests.get("ConfigMap");
    const { config } = parseConfig(data["goblin.json"], {
      file: "goblin.json",
      env: { GOBLIN_TOKEN: "s3cret-s3cret-s3cret" },
    });
    expect(config.gateway.auth.clients["owner"]).toMatchObject({ token: "s3cret-s3cret-s3cret", admin: true });
    expect(JSON.stringify(data)).not.toContain("s3cret");
    const [container] = manifests.get("Deployment").spec.template.spec.containers;
    expect(container.envFrom).toEqual([{ secretRef: { name: "goblin" } }]);
    expect(container.args).toEqual(["serve", "--config", "/etc/goblin/goblin.json"]);
    const given = render({ existingSecret: "mine", secret: { A: "b" } });
    expect(given.has("Secret")).toBe(false);
    expect(given.get("Deployment").spec.template.spec.containers[0].envFrom).toEqual([{ secretRef: { name: "mine" } }]);
  });

  test("lets Prometheus scrape where the metrics are, with the token", () => {
    const monitor = (values: Values): Manifest =>
      render({ existingSecret: "s", serviceMonitor: { enabled: true }, ...values }).get("ServiceMonitor").spec;
    expect(monitor({})).toEqual({
      selector: { matchLabels: { "app.kubernetes.io/name": "goblin", "app.kubernetes.io/instance": "goblin" } },
      endpoints: [
        {
          port: "http",
          path: "/metrics",
          scheme: "http",
          interval: "30s",
          authorization: { credentials: { name: "s", key: "GOBLIN_TOKEN" } },
        },
      ],
    });
    expect(monitor({ config: { gateway: { admin: { port: 3002, host: "0.0.0.0" } } } }).endpoints[0].port).toBe(
      "admin",
    );
    const closed = helm({ serviceMonitor: { enabled: true }, config: { gateway: { admin: { port: 3002 } } } });
    expect(closed.stderr).toContain("config.gateway.admin.host: set it to 0.0.0.0");
    expect(render(everything).get("NetworkPolicy").spec.ingress).toHaveLength(3);
  });

  test("lets replicas find each other, and only them", () => {
    const manifests = render({ replicaCount: 3, existingSecret: "s", cluster: { redis: "redis://redis:6379" } });
    const env = { GOBLIN_TOKEN: "0123456789abcdef0123456789abcdef", POD_IP: "10.1.2.3" };
    const read = (found: Map<string, Manifest>) =>
      parseConfig(found.get("ConfigMap").data["goblin.json"], { file: "goblin.json", env }).config;
    expect(read(manifests).cluster).toMatchObject({
      listen: "0.0.0.0:3001",
      address: "10.1.2.3:3001",
      redis: "redis://redis:6379",
    });
    expect(manifests.get("Deployment").spec.replicas).toBe(3);
    expect(manifests.get("NetworkPolicy").spec.ingress[1]).toEqual({
      ports: [{ port: "cluster" }],
      from: [
        {
          podSelector: {
            matchLabels: { "app.kubernetes.io/name": "goblin", "app.kubernetes.io/instance": "goblin" },
          },
        },
      ],
    });
    const own = { replicaCount: 2, existingSecret: "s", config: { cluster: { timeoutMs: 900 } } };
    expect(read(render(own)).cluster).toMatchObject({ address: "10.1.2.3:3001", timeoutMs: 900 });
    const six = { cluster: { enabled: true, ipv6: true }, secret: { GOBLIN_SECRET: "x" } };
    expect(render(six).get("ConfigMap").data["goblin.json"]).toContain('"address": "[${env:POD_IP}]:3001"');
    expect(read(render({})).cluster.listen).toBeUndefined();
    expect(render(everything).get("Deployment").spec.replicas).toBeUndefined();
  });

  test("refuses replicas without a secret, and a state folder that they would share", () => {
    expect(helm({ replicaCount: 2 }).stderr).toContain(
      "replicas share a secret: put GOBLIN_SECRET into existingSecret",
    );
    expect(helm({ autoscaling: { enabled: true }, secret: { GOBLIN_TOKEN: "x" } }).stderr).toContain("GOBLIN_SECRET");
    const shared = { replicaCount: 2, existingSecret: "s", persistence: { enabled: true } };
    expect(helm(shared).stderr).toContain("several replicas cannot share a state folder");
  });

  test("refuses values that it does not know, by name", () => {
    expect(helm({ existingSecrt: "x" }).stderr).toContain("existingSecrt");
    expect(helm({ image: { digest: "latest" } }).stderr).toContain("image.digest");
    expect(helm({ service: { port: "80" } }).stderr).toContain("service.port");
  });
});
