/**
 * `goblin read <uri>`: prints a resource, or saves it where it is no text. Takes every form of a
 * URI that the gateway knows.
 */
import { blocksOf, printContents } from "../content.ts";
import { printJson } from "../table.ts";
import { type TargetOptions, withClient } from "../target.ts";

export interface ReadOptions extends TargetOptions {
  readonly out: string;
  readonly json?: boolean | undefined;
}

export function read(uri: string, options: ReadOptions): Promise<number> {
  return withClient(options, async (client) => {
    const result = await client.request("resources/read", { uri });
    if (options.json) printJson(result);
    else
      for (const contents of blocksOf(result["contents"]))
        printContents(contents, { out: options.out, name: nameOf(uri) });
    return 0;
  });
}

/** The last part of the path, without its extension. */
function nameOf(uri: string): string {
  const last = uri.split(/[/?#]/).findLast((part) => part !== "") ?? uri;
  return last.replace(/\.\w{1,5}$/, "");
}
