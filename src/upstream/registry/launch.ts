/**
 * How a server is run, as an entry of a config, and what must be asked before.
 *
 * Pure: a description in, an entry out. Versions are pinned: what runs tomorrow is what was looked
 * at today.
 */
import type { Field, Package, RegistryServer, Remote } from "./server-json.ts";

/** A question whose answer the entry needs. */
export interface LaunchInput {
  /** Unique within a launch: the name of the variable, header or argument. */
  readonly key: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  readonly default: string | undefined;
  readonly choices: readonly string[];
}

export type Answers = ReadonlyMap<string, string>;
export type ServerEntry = Readonly<Record<string, unknown>>;

export interface Launch {
  /** A short name for it. */
  readonly name: string;
  readonly questions: readonly LaunchInput[];
  /** Returns the entry. `answers`: those that were given. */
  entry(answers: Answers): ServerEntry;
}

/** Runners, in the order of preference. */
const KINDS = ["npm", "pypi", "oci", "nuget"];

/** Chooses how to run a server of a registry. @throws Error if there is no way */
export function launchOf(server: RegistryServer, options: { readonly isRemote?: boolean | undefined } = {}): Launch {
  const { packages, remotes } = server;
  const name = shortName(server.name);
  const remote = remotes.find(({ kind }) => kind === "streamable-http" || kind === "http") ?? remotes[0];
  const runnable = packages.filter(({ kind, transport }) => transport === "stdio" && KINDS.includes(kind));
  const chosen = runnable.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind))[0];
  if (chosen && !(options.isRemote && remote)) return packageLaunch(name, chosen);
  if (remote) return remoteLaunch(name, remote);
  const kinds = packages.map(({ kind }) => kind).join(", ") || "no packages";
  throw new Error(`${server.name} ${server.version} cannot be run by Goblin: it has ${kinds}, and no address`);
}

/** `io.github.ada/weather-mcp` → `weather` */
export function shortName(name: string): string {
  const last = name.split("/").at(-1)!.replace(/^@/, "");
  const short = last
    .replace(/^(mcp-server-|server-|mcp-)|(-mcp-server|-server|-mcp)$/g, "")
    .replace(/[^A-Za-z0-9_.-]+/g, "-");
  return short === "" || short === "mcp" || short === "server" ? last.replace(/[^A-Za-z0-9_.-]+/g, "-") : short;
}

export function packageLaunch(name: string, server: Package): Launch {
  const { kind, identifier, version, runtimeArguments, packageArguments, variables } = server;
  return {
    name,
    questions: [...runtimeArguments, ...packageArguments, ...variables].flatMap(questionsOf),
    entry(answers) {
      const runtime = runtimeArguments.flatMap((field) => words(field, answers));
      const own = packageArguments.flatMap((field) => words(field, answers));
      const env = valuesOf(variables, answers);
      const named = Object.keys(env).length > 0 ? { env } : {};
      switch (kind) {
        case "npm":
          return { command: "npx", args: [...runtime, "-y", pinned(identifier, "@", version), ...own], ...named };
        case "pypi":
          return { command: "uvx", args: [...runtime, pinned(identifier, "==", version), ...own], ...named };
        case "nuget":
          return { command: "dnx", args: [...runtime, pinned(identifier, "@", version), "--yes", ...own], ...named };
        default: {
          const passed = Object.keys(env).flatMap((variable) => ["-e", variable]);
          return {
            command: "docker",
            args: ["run", "-i", "--rm", ...passed, ...runtime, image(server), ...own],
            ...named,
          };
        }
      }
    },
  };
}

function remoteLaunch(name: string, { kind, url, headers }: Remote): Launch {
  return {
    name,
    questions: headers.flatMap(questionsOf),
    entry(answers) {
      const own = valuesOf(headers, answers);
      const type = kind === "sse" ? { type: "sse" } : {};
      return { ...type, url, ...(Object.keys(own).length > 0 && { headers: own }) };
    },
  };
}

/** A field with a fixed value needs answers only for the variables in it. */
function questionsOf(field: Field): LaunchInput[] {
  if (field.variables.length > 0) return field.variables.flatMap(questionsOf);
  if (field.value !== undefined) return [];
  const { description, isRequired, isSecret, choices } = field;
  return [{ key: keyOf(field), description, isRequired, isSecret, default: field.default, choices }];
}

function keyOf({ name, hint }: Field): string {
  return name || hint || "value";
}

/** Undefined: nobody answered, and there is no default. */
function textFor(field: Field, answers: Answers): string | undefined {
  if (field.value === undefined) return answers.get(keyOf(field)) ?? field.default;
  return field.value.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = field.variables.find((one) => one.name === name);
    return (variable && textFor(variable, answers)) ?? whole;
  });
}

function words(field: Field, answers: Answers): string[] {
  const value = textFor(field, answers);
  if (field.name === "") return value === undefined ? [] : [value];
  // An option without a value is a switch.
  if (value === undefined) return field.isRequired ? [field.name] : [];
  return [field.name, value];
}

function valuesOf(fields: readonly Field[], answers: Answers): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = textFor(field, answers);
      return value === undefined ? [] : [[field.name, value]];
    }),
  );
}

function pinned(identifier: string, sign: string, version: string | undefined): string {
  return version === undefined || version === "latest" ? identifier : `${identifier}${sign}${version}`;
}

function image({ identifier, version }: Package): string {
  const hasTag = identifier.includes("@") || identifier.split("/").at(-1)!.includes(":");
  return hasTag || version === undefined ? identifier : `${identifier}:${version}`;
}
