/** Runs a pipe on stdin and stdout until its client has gone. */
import { createOpener } from "./opener.ts";
import { Pipe } from "./pipe.ts";
import type { AttachOptions, AttachTarget } from "./target.ts";

export async function runAttach(target: AttachTarget, { profile, server, stopWhenIdle }: AttachOptions): Promise<void> {
  const opener = createOpener(target, { profile, server, stopWhenIdle });
  try {
    await new Pipe({ input: process.stdin, output: process.stdout, opener }).run();
  } finally {
    // An open stdin would keep the process.
    process.stdin.destroy();
  }
}
