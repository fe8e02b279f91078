/** From what the user typed to a way to run a server. */
import { resolve } from "node:path";
import { openBundle } from "../../../upstream/registry/bundle.ts";
import { findInRegistries } from "../../../upstream/registry/find.ts";
import { type Launch, launchOf, packageLaunch, shortName } from "../../../upstream/registry/launch.ts";
import { mirrorOf } from "../../../upstream/registry/mirror.ts";
import { getServer } from "../../../upstream/registry/registry-client.ts";
import type { Package, RegistryServer } from "../../../upstream/registry/server-json.ts";
import { newestVersion } from "../../../upstream/registry/versions.ts";
import { UsageError } from "../usage-error.ts";
import { ageOf } from "./age.ts";

export interface LaunchOptions {
  readonly registries: readonly string[];
  readonly isRemote?: boolean | undefined;
  /** Takes what the user should know. */
  readonly note: (text: string) => void;
}

const HITS = 5;

/** @throws UsageError if there is no such server */
export async function launchFor(typed: string, options: LaunchOptions): Promise<Launch> {
  const [, kind, rest = ""] = /^(npm|pypi|oci|docker):(.+)$/.exec(typed) ?? [];
  if (kind === "npm" || kind === "pypi") return fromPackage(kind, rest);
  if (kind !== undefined)
    return packageLaunch(shortName(rest.split(/[:@]/)[0]!), { ...NO_PACKAGE, kind: "oci", identifier: rest });
  if (/\.mcpb$/i.test(typed)) return openBundle({ from: isUrl(typed) ? typed : resolve(typed), env: process.env });
  if (isUrl(typed)) return { name: nameOfHost(new URL(typed).hostname), questions: [], entry: () => ({ url: typed }) };
  const server = await fromRegistry(typed, options);
  const bundle = server.packages.find((one) => one.kind === "mcpb");
  const others = server.packages.some((one) => one.kind !== "mcpb" && one.transport === "stdio");
  if (bundle && !others && !(options.isRemote && server.remotes.length > 0))
    return openBundle({ from: bundle.identifier, sha256: bundle.sha256, env: process.env });
  return launchOf(server, options);
}

const NO_PACKAGE: Omit<Package, "kind" | "identifier"> = {
  version: undefined,
  sha256: undefined,
  transport: "stdio",
  runtimeArguments: [],
  packageArguments: [],
  variables: [],
};

/** `@scope/name@1.2.3`, `name==1.2.3` */
async function fromPackage(kind: "npm" | "pypi", typed: string): Promise<Launch> {
  const [, identifier = typed, given] = /^(.[^@=]*(?:\/[^@=]+)?)(?:@|==)(.+)$/.exec(typed) ?? [];
  const version =
    given === undefined || given === "latest" ? await newestVersion(kind, identifier, process.env) : given;
  return packageLaunch(shortName(identifier), { ...NO_PACKAGE, kind, identifier, version });
}

/** Asks the registries in turn; one that cannot be reached is replaced by its copy. */
async function fromRegistry(typed: string, { registries, note }: LaunchOptions): Promise<RegistryServer> {
  const [, name = typed, version] = /^([^@]+)(?:@(.+))?$/.exec(typed) ?? [];
  if (name.includes("/")) {
    for (const registry of registries) {
      const found = await getServer(registry, name, version).catch(async (error: Error) => {
        const { servers, readAt } = await mirrorOf(registry, { env: process.env });
        const kept = servers.find((one) => one.name === name && (version === undefined || one.version === version));
        note(kept ? `${error.message}; this is what it said ${ageOf(readAt!)} ago` : error.message);
        return kept;
      });
      if (found) return found;
    }
  }
  const mirrors = await Promise.all(registries.map((registry) => mirrorOf(registry, { env: process.env })));
  for (const { problem, readAt } of mirrors)
    if (problem !== undefined) note(readAt === undefined ? problem : `${problem}; its list is ${ageOf(readAt)} old`);
  const hits = await findInRegistries(name.replace(/[/.]/g, " "), mirrors, HITS);
  const same = hits.filter((one) => one.name === name || shortName(one.name).toLowerCase() === name.toLowerCase());
  if (same.length === 1 && version === undefined) return same[0]!;
  const hint =
    hits.length === 0 ? "goblin search finds servers" : `similar are ${hits.map((one) => one.name).join(", ")}`;
  throw new UsageError(`no registry has a server "${typed}" (${hint}); packages are npm:…, pypi:… or oci:…`);
}

function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** `mcp.linear.app` → `linear` */
function nameOfHost(host: string): string {
  const labels = host.split(".").filter((label) => !/^(www|mcp|api)$/.test(label));
  return labels.length > 1 && !/^\d+$/.test(labels.at(-1)!) ? labels.at(-2)! : host.replace(/[^\w.-]/g, "-");
}
