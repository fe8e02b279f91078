/**
 * Ensures that no server process outlives Goblin. Goblin kills its process groups when it exits. A
 * watchdog kills them if Goblin cannot (SIGKILL, out of memory).
 *
 * The watchdog is one small shell for the whole process. It receives the list of groups on stdin;
 * the end of stdin means that Goblin is gone. It then ends every group that does not end by itself.
 * A group leaves the list when its server has ended, so a recycled group id is never killed. The
 * watchdog is optional: everything else works without a shell and on Windows. Windows has no
 * process groups: there the tree of a program's processes is ended with taskkill.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import type { Socket } from "node:net";

const SHELL = "/bin/sh";
/**
 * Gives servers time to exit on the end of their stdin, then sends SIGTERM, then SIGKILL: the same
 * steps as closing a link.
 */
const SCRIPT = `
trap '' HUP INT TERM
led=
while read -r what group; do
  kept=
  for g in $led; do [ "$g" = "$group" ] || kept="$kept $g"; done
  led=$kept
  [ "$what" = + ] && led="$led $group"
done
some() {
  kept=
  for g in $led; do kill -s 0 -- "$g" 2>/dev/null && kept="$kept $g"; done
  led=$kept
  [ -n "$led" ]
}
each() { for g in $led; do kill -s "$1" -- "$g" 2>/dev/null; done; }
for signal in TERM KILL; do
  for second in 1 2; do some || exit 0; sleep 1; done
  some && each $signal
done
`;

const groups = new Set<number>();
let watchesExit = false;
let watchdog: ChildProcess | undefined;
let hasNoShell = process.platform === "win32";

/** Ties the child's whole process group to Goblin: it ends when Goblin ends. */
export function endWithProcess(pid: number): void {
  groups.add(pid);
  if (watchdog) tell(watchdog, "+", pid);
  // Deferred, so that servers that start at the same time do not wait for the shell.
  else if (!hasNoShell) setImmediate(watch);
  if (watchesExit) return;
  watchesExit = true;
  process.on("exit", () => {
    if (process.platform !== "win32") for (const pid of groups) killGroup(pid, "SIGKILL");
    else if (groups.size > 0) spawnSync("taskkill", taskkillArgs(groups), { stdio: "ignore", windowsHide: true });
  });
}

/** Stops tracking a group whose processes have ended. */
export function hasEnded(pid: number): void {
  if (groups.delete(pid) && watchdog) tell(watchdog, "-", pid);
}

/**
 * Signals a group only while it is tracked: the id of an ended group may belong to another process.
 */
export function killGroup(pid: number, signal: NodeJS.Signals): void {
  if (!groups.has(pid)) return;
  if (process.platform === "win32") killTree(pid);
  else signalGroup(pid, signal);
}

/** Returns whether the group still has processes. */
export function hasMembers(pid: number): boolean {
  return signalGroup(pid, 0);
}

/** Returns false if the group has no processes. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Ends a program and all that it has started: what npx runs is a child of cmd.exe. */
function killTree(pid: number): void {
  const killer = spawn("taskkill", taskkillArgs([pid]), { stdio: "ignore", windowsHide: true });
  killer.once("error", () => signalGroup(pid, "SIGKILL"));
}

export function taskkillArgs(pids: Iterable<number>): string[] {
  return [...[...pids].flatMap((pid) => ["/pid", String(pid)]), "/T", "/F"];
}

function watch(): void {
  if (watchdog || groups.size === 0) return;
  // `detached` puts the watchdog into its own session, so Ctrl-C in the terminal does not reach it.
  const started = spawn(SHELL, ["-c", SCRIPT, "goblin-watchdog"], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
    env: { PATH: `${process.env["PATH"] ?? ""}:/usr/bin:/bin` },
  });
  watchdog = started;
  started.once("error", () => {
    hasNoShell = true;
    watchdog = undefined;
  });
  started.once("exit", () => {
    // The next server that starts gets a new watchdog.
    if (watchdog === started) watchdog = undefined;
  });
  started.stdin!.on("error", () => {});
  started.unref();
  // A pipe to a child is a Socket at run time; the declared type is wider.
  (started.stdin as Socket).unref();
  for (const pid of groups) tell(started, "+", pid);
}

/** The shell signals a group by its negative number. */
function tell({ stdin }: ChildProcess, what: "+" | "-", group: number): void {
  if (stdin?.writable) stdin.write(`${what} ${-group}\n`);
}
