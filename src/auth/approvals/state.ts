/** Opens the file of the approvals in the state folder. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { stateFolder } from "../../config/state-folder.ts";
import { messageOf } from "../../mcp/protocol/errors.ts";
import { type OpenedLedger, openLedger } from "./ledger.ts";

export interface ApprovalStateOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The address of the gateway, as `host:port`. Undefined: it changes with each restart. */
  readonly endpoint: string | undefined;
  readonly warn: (message: string) => void;
}

/** Returns undefined if nothing can be kept. */
export async function openApprovals({ env, endpoint, warn }: ApprovalStateOptions): Promise<OpenedLedger | undefined> {
  if (endpoint === undefined) return undefined;
  try {
    const folder = stateFolder(env);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await openLedger(join(folder, approvalsFile(endpoint)), warn);
  } catch (error) {
    warn(`Approvals will not survive a restart: the state folder cannot be used (${messageOf(error)})`);
    return undefined;
  }
}

/** The name of the file. */
function approvalsFile(endpoint: string): string {
  return `approvals-${endpoint.replace(/[^A-Za-z0-9.]+/g, "-")}.jsonl`;
}
