/**
 * Tells when the text of a config file changes, however that happens: written in place, replaced by
 * rename (as editors do), or reached through symbolic links that are swapped (as Kubernetes does
 * with `..data`).
 *
 * Folders are watched, never the file, because a watch on a file dies with it. An event is only a
 * reason to look:
 * `onChange` is called when the text differs from the one seen last or the file is back, and not
 * while it is missing.
 */
import { type FSWatcher, watch } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { foldersOnTheWay } from "./reading/link-folders.ts";
import { digestOf } from "./reading/load.ts";

export interface WatchOptions {
  /** How long the file must be quiet before it is looked at. */
  readonly debounceMs?: number;
  /** How often to look without any event, for file systems that send none; 0: never. */
  readonly pollMs?: number;
  /** The digest of the text that is in use; without it, the text found at the start. */
  readonly since?: string;
}

export interface ConfigWatch {
  close(): void;
}

/** Watching has begun when the promise resolves. */
export async function watchConfig(
  path: string,
  onChange: () => void,
  options: WatchOptions = {},
): Promise<ConfigWatch> {
  const { debounceMs = 100, pollMs = 2000 } = options;
  const watchers = new Map<string, FSWatcher>();
  let closed = false;
  let lastDigest = options.since;
  let quiet: NodeJS.Timeout | undefined;
  let looking = false;
  let lookAgain = false;

  function onEvent(): void {
    if (closed) return;
    clearTimeout(quiet);
    quiet = setTimeout(look, debounceMs);
  }

  /** One look at a time: an event during a look asks for another one after it. */
  async function look(): Promise<void> {
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = true;
    do {
      lookAgain = false;
      // Folders first: a change after the reading then still raises an event.
      await watchFolders();
      const digest = await readDigest(path);
      if (closed) return;
      // A reading of the missing file may have failed in the meantime: that it is back is a change,
      // whatever its text.
      if (digest === undefined) lastDigest = "";
      else if (digest !== lastDigest) {
        const isFirst = lastDigest === undefined;
        lastDigest = digest;
        if (!isFirst) onChange();
      }
    } while (lookAgain);
    looking = false;
  }

  /**
   * Watches the folders that matter now, each by its identity: one that was replaced is another
   * folder.
   */
  async function watchFolders(): Promise<void> {
    const wanted = new Map<string, string>();
    for (const folder of await foldersOnTheWay(path)) {
      const identity = await identityOf(folder);
      if (identity !== undefined) wanted.set(identity, folder);
    }
    if (closed) return;
    for (const [identity, watcher] of watchers) {
      if (!wanted.has(identity)) forget(identity, watcher);
    }
    for (const [identity, folder] of wanted) {
      if (!watchers.has(identity)) openWatcher(identity, folder);
    }
  }

  function openWatcher(identity: string, folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, onEvent);
      watcher.on("error", () => {
        forget(identity, watcher);
        onEvent();
      });
      watchers.set(identity, watcher);
    } catch {
      // Gone again, or the system has no watches left: polling still sees the file.
    }
  }

  function forget(identity: string, watcher: FSWatcher): void {
    watchers.delete(identity);
    watcher.close();
  }

  const poll = pollMs > 0 ? setInterval(look, pollMs).unref() : undefined;
  await look();
  // A file that does not exist yet counts as empty, so that its appearance is a change.
  lastDigest ??= "";

  return {
    close() {
      closed = true;
      clearTimeout(quiet);
      clearInterval(poll);
      for (const [identity, watcher] of watchers) forget(identity, watcher);
    },
  };
}

async function readDigest(path: string): Promise<string | undefined> {
  try {
    return digestOf(await readFile(path));
  } catch {
    return undefined;
  }
}

async function identityOf(folder: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(folder, { bigint: true });
    return `${folder}:${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
