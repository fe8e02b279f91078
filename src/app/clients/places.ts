/**
 * Where programs keep their settings on each system. Paths have forward slashes, which every system
 * reads.
 */
import { posix } from "node:path";
import type { Machine } from "./client.ts";

const { join } = posix;

export const inHome =
  (...parts: string[]) =>
  ({ home }: Machine): string =>
    join(slashed(home), ...parts);

/** `~/.config` on Linux and macOS, `%APPDATA%` on Windows. */
export const inConfig =
  (...parts: string[]) =>
  (machine: Machine): string =>
    join(machine.platform === "win32" ? roaming(machine) : xdgConfig(machine), ...parts);

/** `~/.config` on Linux, `Application Support` on macOS, `%APPDATA%` on Windows. */
export const inApplications =
  (...parts: string[]) =>
  (machine: Machine): string => {
    const { platform, home } = machine;
    if (platform === "darwin") return join(slashed(home), "Library/Application Support", ...parts);
    return join(platform === "win32" ? roaming(machine) : xdgConfig(machine), ...parts);
  };

/** `~/.config` everywhere but on Windows, where it is `%LOCALAPPDATA%`. */
export const inLocal =
  (...parts: string[]) =>
  (machine: Machine): string =>
    join(machine.platform === "win32" ? local(machine) : xdgConfig(machine), ...parts);

/** A folder that a variable may name, else one in the home folder. */
export const inNamed =
  (variable: string, folder: string, ...parts: string[]) =>
  ({ env, home }: Machine): string =>
    join(slashed(env[variable] || join(slashed(home), folder)), ...parts);

function xdgConfig({ env, home, platform }: Machine): string {
  const named = platform === "linux" ? env["XDG_CONFIG_HOME"] : undefined;
  return slashed(named || join(slashed(home), ".config"));
}

function roaming({ env, home }: Machine): string {
  return slashed(env["APPDATA"] || join(slashed(home), "AppData/Roaming"));
}

function local({ env, home }: Machine): string {
  return slashed(env["LOCALAPPDATA"] || join(slashed(home), "AppData/Local"));
}

function slashed(path: string): string {
  return path.replaceAll("\\", "/");
}
