/** The page of the documentation about an error of the gateway. */
import { apiStatuses } from "../../../admin/api/failure.ts";
import { errorTable } from "../../../mcp/protocol/errors.ts";

const codes: ReadonlySet<string> = new Set([
  ...Object.values(errorTable).map(({ wire }) => wire),
  ...Object.keys(apiStatuses),
]);

/** Returns the page about a code; undefined if it is not the gateway's own. */
export function errorPage(code: unknown): string | undefined {
  return typeof code === "string" && codes.has(code) ? `docs/errors.md#${code.toLowerCase()}` : undefined;
}
