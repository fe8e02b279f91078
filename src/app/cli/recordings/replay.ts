/**
 * `goblin replay`: a server that answers as recorded, on stdin and stdout or over HTTP; with
 * --against, a comparison with a real server.
 */
import { oneLine } from "../../../lib/json/json-text.ts";
import { eachLine } from "../../../lib/structures/lines.ts";
import { clean } from "../../../lib/text/clean.ts";
import { serveReplay } from "../../replay/http.ts";
import { Replay } from "../../replay/replay.ts";
import type { TargetOptions } from "../gateway/target.ts";
import { UsageError } from "../usage-error.ts";

export interface ReplayOptions extends TargetOptions {
  readonly server?: string | undefined;
  readonly http?: number | undefined;
  readonly against?: string | undefined;
  readonly all?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export async function replay(path: string, options: ReplayOptions): Promise<number> {
  const { server, http, against } = options;
  if (against !== undefined) {
    if (http !== undefined) throw new UsageError("--against compares and --http serves: use one of them");
    return (await import("./against.ts")).compareWith(against, path, options);
  }
  const onMiss = (message: string): void => console.error(clean(message));
  const served = new Replay(path, { server, onMiss });
  const { size, masked } = served.answers;
  // On stdio, stdout belongs to the protocol.
  const hidden = masked === 0 ? "" : `; ${masked} of them contain masked secrets`;
  console.error(`Replays ${size} answers${server === undefined ? "" : ` of ${server}`}${hidden}`);
  if (http === undefined) return overStdio(served);
  const { server: listening, url } = await serveReplay(served, http);
  console.log(url);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  listening.closeAllConnections();
  listening.close();
  return 0;
}

function overStdio(served: Replay): Promise<number> {
  return new Promise((resolve) => {
    const receive = (line: string): void => {
      if (line.trim() === "") return;
      for (const message of served.receive(line)) process.stdout.write(`${oneLine(message)}\n`);
    };
    eachLine(process.stdin, receive, () => resolve(0));
    // The client is gone.
    process.stdout.on("error", () => resolve(0));
  });
}
