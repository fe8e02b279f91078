/**
 * The folders in which something can change that decides what a path leads to: the one that holds
 * the file, and the one that holds each symbolic link on the way to it.
 *
 * Where the way ends early because something is missing, the last folder that exists is among them,
 * so that the missing part is noticed when it appears.
 */
import { lstat, readlink } from "node:fs/promises";
import { dirname, join, parse, resolve, sep } from "node:path";

/** As many links as systems follow before they call it a loop. */
const MAX_LINKS = 40;

export async function foldersOnTheWay(path: string): Promise<ReadonlySet<string>> {
  const folders = new Set<string>();
  let [current, steps] = split(resolve(path));
  let links = 0;
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const next = join(current, step);
    const kind = await kindOf(next);
    if (kind === "link" && ++links <= MAX_LINKS) {
      folders.add(current);
      // Its own target may be a chain of links: start again from there, with what is left of the
      // way.
      const [root, targetSteps] = split(resolve(current, await readTarget(next)));
      current = root;
      steps = [...targetSteps, ...steps];
      continue;
    }
    if (kind !== "folder") {
      folders.add(current);
      return folders;
    }
    current = next;
  }
  folders.add(dirname(current));
  return folders;
}

function split(absolute: string): [root: string, steps: string[]] {
  const { root } = parse(absolute);
  return [
    root,
    absolute
      .slice(root.length)
      .split(sep)
      .filter((step) => step !== ""),
  ];
}

async function kindOf(path: string): Promise<"link" | "folder" | "other"> {
  try {
    const found = await lstat(path);
    return found.isSymbolicLink() ? "link" : found.isDirectory() ? "folder" : "other";
  } catch {
    return "other";
  }
}

/** A link that vanished leads nowhere, which ends the way in its own folder. */
async function readTarget(link: string): Promise<string> {
  try {
    return await readlink(link);
  } catch {
    return ".";
  }
}
