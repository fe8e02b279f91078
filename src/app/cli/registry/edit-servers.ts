/** `goblin remove`, `enable` and `disable`: change servers of the config, and keep its comments. */
import { valueIn, withValue } from "../../../config/editing/edit.ts";
import { clean } from "../../../lib/text/clean.ts";
import { requireServer } from "../suggest.ts";
import { printJson } from "../terminal/table.ts";
import { openPlace, rewrite, serverPlaces } from "./config-place.ts";

export interface EditOptions {
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
}

export type Edit = "remove" | "enable" | "disable";

const DONE = { remove: "removed", enable: "enabled", disable: "disabled" } as const;

export async function editServers(edit: Edit, ids: readonly string[], options: EditOptions): Promise<number> {
  const place = await openPlace(options.config);
  const places = serverPlaces(place.text);
  for (const id of ids) requireServer(id, [...places.keys()]);
  const text = ids.reduce((body, id) => edited(body, places.get(id)!, edit), place.text);
  const isSame = text === place.text;
  const undo = isSame ? undefined : await rewrite(place, { command: `${edit} ${ids.join(" ")}`, text });
  if (options.json) printJson({ config: place.file, servers: ids, state: DONE[edit], undo: undo ?? null });
  else if (isSame) console.log(clean(`${place.file} says so already.`));
  else console.log(clean(`${ids.join(", ")}: ${DONE[edit]} in ${place.file}; to take it back: goblin undo ${undo}`));
  return 0;
}

function edited(text: string, place: readonly [string, string], edit: Edit): string {
  if (edit === "remove") return withValue(text, place, undefined);
  const set = (body: string, key: string, value: unknown): string =>
    valueIn(body, [...place, key]) === value ? body : withValue(body, [...place, key], value);
  // `disabled` is what some clients write.
  const plain = set(text, "disabled", undefined);
  return set(plain, "enabled", edit === "enable" ? undefined : false);
}
