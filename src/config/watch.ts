/**
 * Watches a config file for changes of its text: written in place, replaced by rename (as editors
 * do), or reached through swapped symbolic links (as Kubernetes does with `..data`).
 *
 * It watches folders, never the file, because a watch on a file dies with the file. An event is
 * only a reason to look. `onChange` fires when the text differs from the last one seen or a missing
 * file is back, never while the file is missing.
 */
import { type FSWatcher, watch } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { foldersOnTheWay } from "./reading/link-folders.ts";
import { digestOf } from "./reading/load.ts";

export interface WatchOptions {
  /** How long the file must be quiet before it is read. */
  readonly debounceMs?: number;
  /** The polling interval for file systems that send no events; 0: no polling. */
  readonly pollMs?: number;
  /** The digest of the text in use; default: the text found at the start. */
  readonly since?: string;
}

export interface ConfigWatch {
  close(): void;
}

/** Starts watching; resolves when the watches are in place. */
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

  /** Looks at the file. Only one look runs at a time; an event meanwhile requests another. */
  async function look(): Promise<void> {
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = true;
    do {
      lookAgain = false;
      // Folders first, so that a change after the read still raises an event.
      await watchFolders();
      const digest = await readDigest(path);
      if (closed) return;
      // A reload may have failed while the file was missing, so its return counts as a change even
      // with the same text.
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
   * Watches the folders that matter now, by device and inode: a replaced folder needs a new watch.
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
      // The folder is gone, or the system has no watches left. Polling still sees the file.
    }
  }

  function forget(identity: string, watcher: FSWatcher): void {
    watchers.delete(identity);
    watcher.close();
  }

  const poll = pollMs > 0 ? setInterval(look, pollMs).unref() : undefined;
  await look();
  // A missing file counts as empty, so that its appearance is a change.
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
