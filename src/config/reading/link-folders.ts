/**
 * Lists the folders to watch for a path: the file's folder, and the folder of each symbolic link on
 * the way to it.
 *
 * If a part of the path is missing, the list includes the last folder that exists, so that the
 * watcher notices when the missing part appears.
 */
import { lstat, readlink } from "node:fs/promises";
import { dirname, join, parse, resolve, sep } from "node:path";

/** The number of links that systems follow before they report a loop. */
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
      // The target may itself be a chain of links: restart from it with the remaining steps.
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

/** A link that vanished resolves to nothing, which ends the walk in its own folder. */
async function readTarget(link: string): Promise<string> {
  try {
    return await readlink(link);
  } catch {
    return ".";
  }
}
