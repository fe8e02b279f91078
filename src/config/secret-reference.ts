/**
 * References to values that are not in the config: `${keychain:NAME}`, `${op://vault/item/field}`,
 * `${file:path}`, `${cmd:program args}` and `${input:id}`. They are looked up when a server starts.
 *
 * Invariant: reading a config looks nothing up and runs nothing. A text with references is kept in
 * parts, so that no value can be taken for a reference.
 */
import { resolve } from "node:path";
import { isRecord } from "../lib/structures/record.ts";
import { splitWords } from "../lib/text/split-words.ts";

export type SecretReference =
  | { readonly source: "keychain"; readonly name: string }
  | { readonly source: "op"; readonly reference: string }
  | { readonly source: "file"; readonly path: string }
  | { readonly source: "command"; readonly words: readonly string[]; readonly folder: string }
  | InputReference;

/** A value that the user is asked for once. */
export interface InputReference extends InputDefinition {
  readonly source: "input";
  /** Its name among the user's secrets: other configs have other inputs. */
  readonly name: string;
}

/** One of VS Code's `inputs`. */
export interface InputDefinition {
  readonly id: string;
  readonly description?: string;
  readonly isHidden: boolean;
  readonly default?: string;
  /** The values to choose from. */
  readonly options?: readonly string[];
}

export type TextPart = string | SecretReference;

/** A text of a server's entry that is complete only when the server starts. */
export interface SecretText {
  /** Its place: `["env", name]`, `["args", index]`, `["url"]`, `["headers", name]` … */
  readonly at: readonly (string | number)[];
  readonly parts: readonly TextPart[];
}

export interface ReferenceContext {
  /** The base folder for relative paths. */
  readonly folder: string;
  readonly home: string;
  /** The config's path. */
  readonly file: string;
  readonly inputs: ReadonlyMap<string, InputDefinition>;
}

/** Returns the reference inside of `${…}`, or a problem; undefined if it is none of these. */
export function readReference(
  inner: string,
  context: ReferenceContext,
  expandHome: (path: string) => string,
): SecretReference | { readonly message: string } | undefined {
  const { folder } = context;
  if (inner.startsWith("op://")) {
    const isWhole = inner.slice("op://".length).split("/").filter(Boolean).length >= 3;
    return isWhole ? { source: "op", reference: inner } : { message: "${op://…} needs a vault, an item and a field" };
  }
  const colon = inner.indexOf(":");
  const rest = inner.slice(colon + 1);
  switch (colon < 0 ? undefined : inner.slice(0, colon)) {
    case "keychain":
      return rest === "" ? { message: "${keychain:} names no secret" } : { source: "keychain", name: rest };
    case "file":
      if (rest === "") return { message: "${file:} names no file" };
      return { source: "file", path: resolve(folder, expandHome(rest)) };
    case "cmd": {
      const words = splitWords(rest);
      if (words === undefined) return { message: "${cmd:…} has a quote that does not end" };
      return words.length === 0 ? { message: "${cmd:} names no program" } : { source: "command", words, folder };
    }
    case "input": {
      const known = context.inputs.get(rest) ?? { id: rest, isHidden: true };
      return { source: "input", ...known, name: `input:${rest}@${resolve(context.file)}` };
    }
    default:
      return undefined;
  }
}

/** Returns the `inputs` of a file as written, by id. */
export function inputDefinitions(written: unknown): Map<string, InputDefinition> {
  const list: unknown[] = Array.isArray(written) ? written : [];
  return new Map(
    list.filter(isRecord).flatMap((input): [string, InputDefinition][] => {
      const { id, description, password } = input;
      if (typeof id !== "string") return [];
      const options = Array.isArray(input["options"]) ? input["options"].map(optionOf) : undefined;
      const definition: InputDefinition = {
        id,
        isHidden: password === true,
        ...(typeof description === "string" && { description }),
        ...(typeof input["default"] === "string" && { default: input["default"] }),
        ...(input["type"] === "pickString" && options && { options }),
      };
      return [[id, definition]];
    }),
  );
}

/** An option is a text, or an object with a label and a value. */
function optionOf(option: unknown): string {
  return String(isRecord(option) ? (option["value"] ?? option["label"]) : option);
}
