/**
 * No server's process outlives Goblin, however Goblin ends: its groups of processes are killed when
 * the process exits, and a watchdog does it when the process can do nothing any more (SIGKILL, out
 * of memory).
 *
 * The watchdog is one small shell for the whole process. It is told which groups there are, and
 * knows from the end of its stdin that Goblin is gone; what then does not end by itself is ended. A
 * group leaves the list when its server has ended, so that a number that is used anew is never
 * killed. It is a help and never a condition: without a shell, or on Windows, everything else works
 * the same.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

const SHELL = "/bin/sh";
/**
 * First the servers see the end of their stdin and may end by themselves; the second and third
 * chances are those of a link that closes.
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
  for g in $led; do kill -s 0 -- "-$g" 2>/dev/null && kept="$kept $g"; done
  led=$kept
  [ -n "$led" ]
}
each() { for g in $led; do kill -s "$1" -- "-$g" 2>/dev/null; done; }
for signal in TERM KILL; do
  for second in 1 2; do some || exit 0; sleep 1; done
  some && each $signal
done
`;

const groups = new Set<number>();
let watchesExit = false;
let watchdog: ChildProcess | undefined;
let hasNoShell = process.platform === "win32";

/** From now on this child's whole group ends with Goblin. */
export function endWithProcess(pid: number): void {
  groups.add(pid);
  if (watchdog) tell(watchdog, "+", pid);
  // In a turn of its own: servers that start at the same time do not wait for it.
  else if (!hasNoShell) setImmediate(watch);
  if (watchesExit) return;
  watchesExit = true;
  process.on("exit", () => {
    for (const pid of groups) killGroup(pid, "SIGKILL");
  });
}

/** The child has ended, and whatever it left behind with it. */
export function hasEnded(pid: number): void {
  if (groups.delete(pid) && watchdog) tell(watchdog, "-", pid);
}

/** Only a group that is still ours: the number of one that has ended may be another's by now. */
export function killGroup(pid: number, signal: NodeJS.Signals): void {
  if (groups.has(pid)) signalGroup(pid, signal);
}

/** Whether anybody is left in the group. */
export function hasMembers(pid: number): boolean {
  return signalGroup(pid, 0);
}

/** False: there is nobody. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function watch(): void {
  if (watchdog || groups.size === 0) return;
  // A session of its own: Ctrl-C in the terminal is not for it.
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
    // The next server that starts gets another.
    if (watchdog === started) watchdog = undefined;
  });
  started.stdin!.on("error", () => {});
  started.unref();
  // A pipe to a child is a socket; the type says less.
  (started.stdin as Socket).unref();
  for (const pid of groups) tell(started, "+", pid);
}

function tell({ stdin }: ChildProcess, what: "+" | "-", pid: number): void {
  if (stdin?.writable) stdin.write(`${what} ${pid}\n`);
}
