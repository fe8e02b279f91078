/**
 * Asks the client of a held call, beside the operator: for its user's own consent if the config
 * trusts it, else to open the page where an operator can answer, if it opens links.
 *
 * Invariant: only a client that the config names decides anything. The link is a pointer: whether
 * it was opened changes nothing.
 */
import { randomUUID } from "node:crypto";
import type { Approvals } from "../../../auth/approvals/approvals.ts";
import type { ApprovalRecord } from "../../../auth/approvals/record.ts";
import { cutArguments } from "../../../auth/approvals/shown-arguments.ts";
import { memberText } from "../../../lib/json/json-text.ts";
import { recordOf } from "../../../lib/structures/record.ts";
import { visibleJson } from "../../../lib/text/clean.ts";
import type { Call } from "../../../mcp/protocol/call.ts";
import { rawText } from "../../../mcp/protocol/json-rpc.ts";
import { ANYONE } from "../../../mcp/protocol/principal.ts";
import { concerns } from "../../../policy/who.ts";

export interface QuestionParts {
  readonly approvals: Approvals;
  /** Patterns of the clients whose own consent counts, as rules name them. */
  readonly trusted: () => readonly string[];
}

const MAX_ARGUMENTS_LENGTH = 2000;

/** Whether the client itself may allow its calls, and can be asked. */
export function maySelfAnswer({ client, who }: Call, trusted: readonly string[]): boolean {
  const { elicitation } = client.capabilities;
  if (elicitation === undefined || trusted.length === 0) return false;
  const { form, url } = recordOf(elicitation);
  // A client that names no form of it has the first one.
  if (form === undefined && url !== undefined) return false;
  return trusted.includes("*") || concerns({ clients: trusted }, who);
}

/** `signal` aborts when the question is over. */
export function askClient(call: Call, record: ApprovalRecord, parts: QuestionParts & { signal: AbortSignal }): void {
  const { approvals, signal, trusted } = parts;
  const { subject, id } = record;
  const { client } = call;
  const why = subject.reason === null ? "" : ` (${subject.reason})`;
  const method = "elicitation/create";
  if (maySelfAnswer(call, trusted())) {
    const name = visibleJson(subject.shownName);
    const shown = cutArguments(record.shown, MAX_ARGUMENTS_LENGTH);
    const message = `Allow ${name} of server "${subject.server}"${why} with these arguments?\n${shown}`;
    const params = JSON.stringify({ message, requestedSchema: { type: "object", properties: {} } });
    void client.ask(method, params, { call, signal }).then(async (answer) => {
      const action = answer.ok ? memberText(rawText(answer.raw), "action") : undefined;
      const by = { ...ANYONE, name: `the client ${subject.client}`.trim() };
      const given = { id, by, expect: subject.digest };
      if (action === '"accept"') await approvals.allow({ ...given, span: "once" }).catch(() => {});
      if (action === '"decline"') await approvals.deny(given).catch(() => {});
    });
    return;
  }
  const url = approvals.pageOf(id);
  if (url === undefined || recordOf(client.capabilities["elicitation"])["url"] === undefined) return;
  const message = `${subject.shownName} of server "${subject.server}" needs a person's approval${why}. An operator can answer here.`;
  const params = JSON.stringify({ mode: "url", elicitationId: randomUUID(), url, message });
  void client.ask(method, params, { call, signal });
}
