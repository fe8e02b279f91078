/**
 * Cards: the compact form of entries in lists and search results. A card has just enough to choose
 * an entry, and the name to describe or use it.
 */
import * as z from "zod";
import { lazy } from "../../lib/structures/lazy.ts";
import type { Definition } from "../../upstream/catalog/definitions.ts";
import type { NamedEntry } from "../../upstream/catalog/named.ts";
import type { Snapshot } from "../../upstream/catalog/snapshot.ts";
import { signatureOf } from "./signature.ts";

export const toolCard = lazy(() => z.object({ name: z.string(), description: z.string(), serverId: z.string() }));
export const promptCard = lazy(() =>
  z.object({
    name: z.string(),
    description: z.string(),
    arguments: z.array(z.string()),
    serverId: z.string(),
  }),
);
export const resourceCard = lazy(() =>
  z.object({
    uri: z.string(),
    name: z.string(),
    mimeType: z.string().optional(),
    size: z.number().optional(),
    serverId: z.string(),
  }),
);
export const templateCard = lazy(() =>
  z.object({
    uriTemplate: z.string(),
    name: z.string(),
    description: z.string().optional(),
    serverId: z.string(),
  }),
);

/** Arguments shared by many meta tools. */
export const serverIdFilter = lazy(() => z.string().optional().describe("Only those of this server."));
export const mimeTypeFilter = lazy(() =>
  z.string().optional().describe('Only those of this MIME type; "image/*" is any image.'),
);
const MAX_QUERY = 1000;
export const queryText = lazy(() =>
  z
    .string()
    // A refinement is not part of the JSON Schema that models read, and they need not know the
    // limit.
    .refine(
      ({ length }) => length <= MAX_QUERY,
      `it may have at most ${MAX_QUERY} characters; say in a few words what you are looking for`,
    )
    .describe("What you are looking for, in your own words or as a name."),
);
export const limitCount = lazy(() => z.int().min(1).max(100).default(10).describe("How many at most, best first."));

/** The most characters of a description in a card. `describe_…` returns the whole text. */
const BRIEF = 400;

export function toolCardOf(entry: NamedEntry): z.input<ReturnType<typeof toolCard>> {
  return { name: entry.exposed, description: brief(descriptionOf(entry)), serverId: entry.serverId };
}

/** The card of a tool with the signature of its arguments. */
export function signedCardOf(entry: NamedEntry) {
  const { name, description, serverId } = toolCardOf(entry);
  return { name, description, signature: signatureOf(entry.definition.value["inputSchema"]), serverId };
}

export function promptCardOf(entry: NamedEntry): z.input<ReturnType<typeof promptCard>> {
  const names = promptArguments(entry).flatMap(({ name }) => (typeof name === "string" ? [name] : []));
  return {
    name: entry.exposed,
    description: brief(descriptionOf(entry)),
    arguments: names,
    serverId: entry.serverId,
  };
}

export function resourceCardOf(
  snapshot: Snapshot,
  entry: { readonly serverId: string; readonly position: number; readonly exposed: string; readonly uri: string },
): z.input<ReturnType<typeof resourceCard>> {
  const { name, mimeType, size } = snapshot.resource(entry.serverId, entry.position)?.value ?? {};
  return {
    uri: entry.exposed,
    name: typeof name === "string" ? name : entry.uri,
    ...(typeof mimeType === "string" && { mimeType }),
    ...(typeof size === "number" && { size }),
    serverId: entry.serverId,
  };
}

function descriptionOf({ override, definition }: NamedEntry): string {
  return override?.description ?? text(definition, "description") ?? "";
}

function promptArguments({ definition }: NamedEntry): { readonly name?: unknown }[] {
  const declared = definition.value["arguments"];
  return Array.isArray(declared) ? declared.filter((one) => typeof one === "object" && one !== null) : [];
}

export function text({ value }: Definition, key: string): string | undefined {
  const found = value[key];
  return typeof found === "string" ? found : undefined;
}

export function brief(description: string): string {
  if (description.length <= BRIEF) return description;
  const cut = description.slice(0, BRIEF);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), BRIEF / 2))}…`;
}

/**
 * Returns whether a MIME type matches a filter, which may end in `/*`. Ignores parameters and case.
 */
export function isOfMimeType(mimeType: string | undefined, filter: string | undefined): boolean {
  if (filter === undefined) return true;
  if (mimeType === undefined) return false;
  const [type, wanted] = [bareType(mimeType), bareType(filter)];
  return wanted.endsWith("/*") ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

function bareType(mimeType: string): string {
  return (mimeType.split(";")[0] ?? "").trim().toLowerCase();
}
