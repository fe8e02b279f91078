/** The page of the documentation about an error of the gateway. */
import { errorTable } from "../../protocol/errors.ts";
import { isRecord } from "../../structures/record.ts";

const codes: ReadonlySet<string> = new Set(Object.values(errorTable).map(({ wire }) => wire));

/** Returns the page for the `data` of an error; undefined if the code is not the gateway's own. */
export function errorPage(data: unknown): string | undefined {
  const code = isRecord(data) ? data["code"] : undefined;
  return typeof code === "string" && codes.has(code) ? `docs/errors.md#${code.toLowerCase()}` : undefined;
}
