/** Which package a command runs, and in which version. */
import { packageRunnerOf } from "../../config/package-runner.ts";

export interface Pin {
  readonly kind: "npm" | "pypi" | "oci";
  readonly name: string;
  /** Undefined: whatever is newest. */
  readonly version: string | undefined;
}

const NPM = /^(npx|bunx|pnpx|npm|pnpm|yarn|bun)\b/;
const PYPI = /^(uvx|uv|pipx)\b/;
/** Options of `docker run` with a value of their own. */
const WITH_VALUE = /^(-e|--env|--env-file|-v|--volume|--mount|-p|--publish|--name|--network|-w|--workdir|-u|--user)$/;

/** Undefined: it runs no package, or it is not certain which. */
export function pinOf(command: string, args: readonly string[]): Pin | undefined {
  const runner = packageRunnerOf(command, args);
  if (!runner) return undefined;
  if (/^(docker|podman)\b/.test(runner.name)) return imageIn(args);
  const written = runner.package;
  if (written === undefined || /[\\:]|^\.|^\//.test(written)) return undefined;
  if (NPM.test(runner.name)) {
    const [, name = written, version] = /^(.[^@]*)@(.+)$/.exec(written) ?? [];
    return { kind: "npm", name, version: version === "latest" ? undefined : version };
  }
  if (!PYPI.test(runner.name)) return undefined;
  const [, name = written, version] = /^([^=@]+)(?:==|@)(.+)$/.exec(written) ?? [];
  return { kind: "pypi", name: name.replace(/\[.*\]$/, ""), version: version === "latest" ? undefined : version };
}

function imageIn(args: readonly string[]): Pin | undefined {
  for (let i = args.indexOf("run") + 1; i < args.length; i++) {
    const word = args[i]!;
    if (WITH_VALUE.test(word)) i++;
    else if (!word.startsWith("-")) {
      const [, name = word, version] = /^(.+?)(?::([^/@:]+))?(?:@.*)?$/.exec(word) ?? [];
      return { kind: "oci", name, version: version === "latest" ? undefined : version };
    }
  }
  return undefined;
}
