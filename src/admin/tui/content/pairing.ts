/** What the dashboard shows about pairing: a new code, and the clients that were let in. */

import { formatDuration } from "../../../lib/text/format.ts";
import type { GrantRow, PairingCodeRow } from "../../api/live/grant-schema.ts";
import type { Block } from "./blocks.ts";

export function codeBlocks({ code, url }: Pick<PairingCodeRow, "code" | "url">): Block[] {
  const lines = [
    `Add ${url} to your client, and type this code on the page that opens:`,
    "",
    `    ${code.slice(0, 4)} ${code.slice(4)}`,
    "",
    "It is good for one client and five minutes. A code that was made before is void.",
  ];
  return [{ kind: "text", text: lines.join("\n") }];
}

export function grantBlocks(grants: readonly GrantRow[], now: number): Block[] {
  if (grants.length === 0) return [{ kind: "text", text: "No client was let in yet." }];
  return grants.map(({ id, name, host, profile, createdAt, usedAt }) => {
    const ago = (at: number): string => `${formatDuration(now - at)} ago`;
    const lines = [
      `let in ${ago(createdAt)}, last token ${ago(usedAt)}`,
      profile === null ? "not limited to a profile" : `limited to the profile ${profile}`,
      `to end it: goblin grants revoke ${id}`,
    ];
    return { kind: "text", title: `${name} (${host})`, text: lines.join("\n") };
  });
}
