/**
 * A server as a registry describes it (`server.json`). What is missing or of another type is left
 * out: registries have entries of many ages, older ones with underscores in their keys.
 */
import { isRecord, recordOf } from "../../lib/structures/record.ts";

/** A value that a server needs: a variable, a header or an argument. */
export interface Field {
  /** The variable, the header or the option; empty for an argument by position. */
  readonly name: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  readonly default: string | undefined;
  readonly choices: readonly string[];
  /** The value as it is, with `{variables}`. */
  readonly value: string | undefined;
  /** What an argument by position means. */
  readonly hint: string | undefined;
  readonly variables: readonly Field[];
}

export interface Package {
  readonly kind: string;
  readonly identifier: string;
  readonly version: string | undefined;
  readonly sha256: string | undefined;
  readonly transport: string;
  readonly runtimeArguments: readonly Field[];
  readonly packageArguments: readonly Field[];
  readonly variables: readonly Field[];
}

export interface Remote {
  readonly kind: string;
  readonly url: string;
  readonly headers: readonly Field[];
}

export interface RegistryServer {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly version: string;
  readonly packages: readonly Package[];
  readonly remotes: readonly Remote[];
}

const META = "io.modelcontextprotocol.registry/official";

/** Reads one item of a registry's list; undefined: it is no server, or one that is gone. */
export function readServer(item: unknown): RegistryServer | undefined {
  const outer = camelCase(item);
  const server = isRecord(outer["server"]) ? outer["server"] : outer;
  const name = text(server["name"]);
  const status = text(recordOf(recordOf(outer["_meta"])[META])["status"]) ?? text(server["status"]);
  if (name === undefined || status === "deleted") return undefined;
  const version = text(server["version"]) ?? text(recordOf(server["versionDetail"])["version"]) ?? "";
  return {
    name,
    title: text(server["title"]),
    description: text(server["description"]) ?? "",
    version,
    packages: list(server["packages"]).flatMap(readPackage),
    remotes: list(server["remotes"]).flatMap(readRemote),
  };
}

function readPackage(item: Record<string, unknown>): Package[] {
  const kind = text(item["registryType"]) ?? text(item["registryName"]);
  const identifier = text(item["identifier"]) ?? text(item["name"]);
  if (kind === undefined || identifier === undefined) return [];
  return [
    {
      kind: kind === "docker" ? "oci" : kind,
      identifier,
      version: text(item["version"]),
      sha256: text(item["fileSha256"])?.toLowerCase(),
      transport: text(recordOf(item["transport"])["type"]) ?? "stdio",
      runtimeArguments: list(item["runtimeArguments"]).map(readField),
      packageArguments: list(item["packageArguments"]).map(readField),
      variables: list(item["environmentVariables"]).map(readField),
    },
  ];
}

function readRemote(item: Record<string, unknown>): Remote[] {
  const url = text(item["url"]);
  const kind = text(item["type"]) ?? text(item["transportType"]) ?? "streamable-http";
  return url === undefined ? [] : [{ kind, url, headers: list(item["headers"]).map(readField) }];
}

function readField(item: Record<string, unknown>): Field {
  const variables = Object.entries(recordOf(item["variables"])).map(([name, field]) =>
    readField({ ...recordOf(field), name }),
  );
  return {
    name: text(item["name"]) ?? "",
    description: text(item["description"]),
    isRequired: item["isRequired"] === true,
    isSecret: item["isSecret"] === true,
    default: text(item["default"]),
    choices: Array.isArray(item["choices"]) ? item["choices"].map(String) : [],
    value: text(item["value"]),
    hint: text(item["valueHint"]),
    variables,
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Keys of `variables` are names, not words of the format. */
function camelCase(value: unknown): Record<string, unknown> {
  const convert = (one: unknown, isNamed = false): unknown => {
    if (Array.isArray(one)) return one.map((item) => convert(item));
    if (!isRecord(one)) return one;
    return Object.fromEntries(
      Object.entries(one).map(([key, inner]) => {
        const own = isNamed ? key : key.replace(/(?<=[a-z])_([a-z])/g, (_, letter: string) => letter.toUpperCase());
        return [own, convert(inner, own === "variables")];
      }),
    );
  };
  return recordOf(convert(value)) as Record<string, unknown>;
}
